// The public API of @dropcast/client.

import './node-version.ts';

export { createVideoClient } from './create-video-client.ts';
export type {
  ClientLogEntry,
  ClientLogger,
  ResponseNote,
  UploadForm,
  UploadFormStore,
  VideoClientOptions,
} from './client-options.ts';
export type { SeenExchange } from './transport/exchange.ts';
export type { ProxyEnvironment } from './transport/proxy.ts';
export type { Authorities } from './transport/trusting-agent.ts';
export { connectionAdvice } from './transport/connection-words.ts';
export type { RateLimitReport, RequestAtGate, RequestGate, RequestNote } from './request-gate.ts';
export type { RateLimit } from './transport/rate-limit-headers.ts';

export type { Call, RawResponse, WithResponse } from './call.ts';
export type { WaitNote } from './waiting.ts';
export type { OpenWord } from './wire/tolerant.ts';

export type {
  Analytics,
  AnalyticsQuery,
  BlobSource,
  Channels,
  CreateOptions,
  Feeds,
  NewVideo,
  OpenStreamSource,
  OverviewQuery,
  Pages,
  RequestOptions,
  SeekableSource,
  SendCallOptions,
  StreamSource,
  UploadCallOptions,
  UploadedVideo,
  UploadSession,
  UploadSource,
  VideoClient,
  VideoQuery,
  Videos,
  WaitOptions,
} from './video-client.ts';
export type { ChannelChanges, CustomRequest, VideoChanges } from './wire/requests.ts';
export type { AnalyticsOverview, AnalyticsPage, Engagement, Period, VideoAnalytics } from './wire/analytics.ts';
export type { Channel, ChannelListItem } from './wire/channels.ts';
export type { Feed, Published } from './wire/feeds.ts';
export type { CreatedVideo, Video, VideoListItem, VideoPage, VideoStatus } from './wire/videos.ts';

export { createBandwidth } from './upload/bandwidth.ts';
export type { Bandwidth } from './upload/bandwidth.ts';
export { isSignatureMismatch } from './upload/put-headers.ts';
export { sizeRefusalOf } from './upload/size-refusal.ts';
export { readOpenFile } from './upload/file-reader.ts';
export type { FileReader } from './upload/file-reader.ts';
export type { BodyReader } from './upload/body-reader.ts';
export type { UploadProtocol } from './upload/protocols/protocol.ts';

export { verifyWebhook, verifyWebhookSignature } from './webhooks/verify-webhook.ts';
export type { ReceivedWebhook } from './webhooks/verify-webhook.ts';
export type { WebhookScheme } from './webhooks/signing-schemes.ts';
export type {
  FeedPublishedEvent,
  OtherEvent,
  VideoFailedEvent,
  VideoReadyEvent,
  WebhookEvent,
} from './webhooks/webhook-event.ts';

/** One class per kind of failure. All extend `ServiceError`; those for uploads also extend `UploadError`. */
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
export type { ErrorCode, ErrorFacts } from './errors.ts';
