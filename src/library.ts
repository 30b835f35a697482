// What the package gives to programs: `import { createVideoClient } from 'dropcast'`.

/** Opens a client for the video service; see `VideoClient` for what it can do. */
export { createVideoClient } from './service/client/create-video-client.ts';
export type { RequestNote, ResponseNote, VideoClientOptions } from './service/client/client-options.ts';

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
} from './service/client/video-client.ts';
export type { ChannelChanges, VideoChanges } from './service/requests.ts';
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
} from './service/wire.ts';

/** Makes sure that a webhook is from the service, and reads it. */
export { verifyWebhook } from './service/client/verify-webhook.ts';
export type { ReceivedWebhook } from './service/client/verify-webhook.ts';
export type {
  FeedPublishedEvent,
  OtherEvent,
  VideoFailedEvent,
  VideoReadyEvent,
  WebhookEvent,
} from './service/client/webhook-event.ts';

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
} from './service/errors.ts';
export type { ErrorFacts } from './service/errors.ts';
