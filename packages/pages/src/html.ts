import type { html } from 'hono/html';

/** Markup in which all inserted text has been escaped. */
export type Html = ReturnType<typeof html>;
