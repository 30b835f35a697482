// What the package gives to programs: `import { createVideoClient } from 'dropcast'`.

/** Opens a client for the video service; see `VideoClient` for what it can do. */
export { createVideoClient } from './create-video-client.ts';
export type { RequestNote, ResponseNote, VideoClientOptions } from './client-options.ts';

export type {
  Analytics,
  Channels,
  CreateOptions,
  Feeds,
  NewVideo,
  Pages,
  RequestOptions,
  SendCallOptions,
  StreamSource,
  UploadCallOptions,
  UploadedVideo,
  UploadSource,
  VideoClient,
  VideoQuery,
  Videos,
  WaitOptions,
} from './video-client.ts';
export type { ChannelChanges, VideoChanges } from './wire/requests.ts';
export type {
  AnalyticsOverview,
  Channel,
  CreatedVideo,
  Feed,
  Period,
  Published,
  Video,
  VideoAnalytics,
  VideoPage,
} from './wire/wire.ts';

/** Makes sure that a webhook is from the service, and reads it. */
export { verifyWebhook } from './webhooks/verify-webhook.ts';
export type { ReceivedWebhook } from './webhooks/verify-webhook.ts';
export type {
  FeedPublishedEvent,
  OtherEvent,
  VideoFailedEvent,
  VideoReadyEvent,
  WebhookEvent,
} from './webhooks/webhook-event.ts';

/** One class per kind of failure; `ServiceError` and `UploadError` are what the others extend. */
export {
  AbortedError,
  AddressDeadError,
  ConnectionError,
  FileChangedError,
  FileUnreadableError,
  FileVanishedError,
  ForbiddenError,
  NotFoundError,
  PaymentRequiredError,
  RateLimitedError,
  RedirectError,
  RejectedError,
  RequestTimeoutError,
  ServerError,
  ServiceError,
  UnauthorizedError,
  UnreadableAnswerError,
  UploadConflictError,
  UploadError,
  UploadRejectedError,
  UploadServerError,
  UploadStalledError,
  VideoFailedError,
  WaitTimeoutError,
  WebhookSignatureError,
} from './errors.ts';
export type { ErrorFacts } from './errors.ts';

// For the daemon, which puts its own budget and its own files behind the same transport.
export * as requests from './wire/requests.ts';
export type { ApiRequest, PageQuery } from './wire/requests.ts';
export { Transport } from './transport/transport.ts';
export type { Ending } from './transport/transport.ts';
export type { ProxyEnvironment } from './transport/connection.ts';
export type { Uploaded, UploadOptions } from './upload/upload.ts';
export { createBandwidth } from './upload/bandwidth.ts';
export type { Bandwidth } from './upload/bandwidth.ts';
export { hashFile } from './upload/opened-file.ts';
export { clampWait } from './transport/retry-after.ts';
export { scrubAddresses } from './transport/scrub.ts';
export { codeOf, throwIfAborted } from './errors.ts';
