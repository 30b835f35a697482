// The public API of the package, which delivers messages from an outbox to people and programs.

export { lastsAny, looked, stopping, toTell } from './conditions.ts';
export type { Conditions, Trouble } from './conditions.ts';
export { droppedName } from './delivery.ts';
export type { Message } from './message.ts';
export { createNotifications } from './notifications.ts';
export type { NewsDesk, Notifications } from './notifications.ts';
export type { Outbox, OutboxCommit, TargetResults } from './ports.ts';
export { post } from './post.ts';
export { createSend } from './senders/send.ts';
export type { Send } from './senders/send.ts';
export type { MessageTarget, NewsKind, NotifyTarget } from './target.ts';
export { tryTargets } from './try-targets.ts';
export type { TargetAnswer } from './try-targets.ts';
