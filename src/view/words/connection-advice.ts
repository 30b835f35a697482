/** The client's words for a connection that fails, also for connections of others, such as those of notifications. */
export { connectionAdvice } from '@dropcast/client';
