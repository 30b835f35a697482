/** A point that the specification leaves open, and how services may settle it. */
export interface OpenPoint {
  /** The subject, phrased as the beginning of a sentence. */
  readonly about: string;
  /** Possible values; the first one is the default. */
  readonly values: readonly [string, ...string[]];
  /** What the specification states, and the reason for the default. */
  readonly why: string;
  /** What dropcast does with each value. */
  readonly dropcast: string;
}

/**
 * Every open point that the sandbox can settle differently: the single list behind `--set`, the admin side and
 * docs/sandbox-profiles.md. Sections refer to api-spec.md.
 */
export const openPoints = {
  unknown_fields: {
    about: 'Fields of a request body that are not in the specification',
    values: ['refuse', 'ignore'],
    why: 'Section 4.5 shows no answer to an invalid body. A typing error should be noticed.',
    dropcast: 'sends none',
  },
  unknown_parameters: {
    about: 'Query parameters that are not in the specification',
    values: ['refuse', 'ignore'],
    why: 'As unknown_fields.',
    dropcast: 'sends none',
  },
  per_page_over_100: {
    about: 'GET /videos with a per_page over 100',
    values: ['refuse', 'clamp'],
    why: 'Section 8 gives the maximum, not what happens beyond it.',
    dropcast: 'never asks for more than 100',
  },
  list_order: {
    about: 'Order of GET /videos',
    values: ['newest', 'oldest'],
    why: 'Not shown. Newest first loses nothing when pages shift.',
    dropcast: 'learns the order from `created_at`, and reads the last page where the oldest come first',
  },
  invalid_status: {
    about: 'Status of the answer to an invalid request',
    values: ['422', '400'],
    why: 'Section 7 leaves it open.',
    dropcast: 'fails the file with the message of the service',
  },
  error_body: {
    about: 'Body of an error',
    values: ['object', 'message', 'problem', 'text', 'html'],
    why: 'Section 7 gives {"error": {"code", "message"}}; proxies and gateways in front of a service answer differently.',
    dropcast: 'reads code and message from any JSON or text; a page of a proxy counts as its status',
  },
  retry_after: {
    about: 'Retry-After of a 429',
    values: ['seconds', 'date', 'absent'],
    why: 'Section 8 gives seconds; HTTP allows a date (RFC 9110 section 10.2.3), and gateways leave it out.',
    dropcast: 'waits at least as long as it says; without it, backs off',
  },
  rate_limit: {
    about: 'Limits of requests per key',
    values: ['hour', 'burst'],
    why: 'Section 8 gives the hour. `burst`: also at most 50 in any 10 s, as PeerTube has by default.',
    dropcast: 'learns the limit from the headers of answers, or else from each 429',
  },
  rate_limit_headers: {
    about: 'Headers that report what is left of the limits',
    values: ['none', 'draft', 'dictionary', 'seconds', 'epoch', 'epoch_ms', 'date', 'window_ms'],
    why: 'Section 8 names none. `draft`: `RateLimit` and `RateLimit-Policy` with every limit, as in the IETF draft; `dictionary`: as in its version 7; `seconds`: `RateLimit-Remaining` and `-Reset`, as in version 6. The others are `X-RateLimit-Remaining` with `X-RateLimit-Reset` in epoch seconds, epoch milliseconds or as an ISO date, or with `X-RateLimit-Window` in milliseconds. All but `draft` report the shortest limit.',
    dropcast: 'stays within them until the reset, and always within `service.requests_per_hour`',
  },
  request_id: {
    about: 'X-Request-Id in the answers of the API',
    values: ['none', 'x_request_id'],
    why: 'Section 4 shows no headers. Many services name each answer, for their support.',
    dropcast: 'does not use it',
  },
  conditional_reads: {
    about: 'ETag of reads of the API',
    values: ['none', 'etag'],
    why: 'Section 4 shows no headers. `etag`: a GET has an `ETag`, and is answered with 304 where `If-None-Match` has it.',
    dropcast: 'asks unconditionally',
  },
  create_status: {
    about: 'Status of POST /videos',
    values: ['201', '200', '202'],
    why: 'Section 4.5: no status of success is shown. 201 is the status for a creation.',
    dropcast: 'accepts any 2xx',
  },
  create_body: {
    about: 'Body of POST /videos',
    values: ['bare', 'wrapped'],
    why: 'Section 4.1 shows it bare, against the general rule of section 4.',
    dropcast: 'reads both',
  },
  get_body: {
    about: 'Body of GET /videos/:id',
    values: ['wrapped', 'bare'],
    why: 'Not shown; wrapped by the general rule of section 4.',
    dropcast: 'reads both',
  },
  get_fields: {
    about: 'Fields of GET /videos/:id',
    values: ['all', 'list', 'minimal'],
    why: 'Not shown. `list`: those of a list item; `minimal`: id and status. Each with the error of a failed video.',
    dropcast: 'needs id and status',
  },
  list_body: {
    about: 'Body of lists',
    values: ['wrapped', 'bare'],
    why: 'Given as {data, meta}; generic gateways unwrap.',
    dropcast: 'reads both',
  },
  update_answer: {
    about: 'Answer to PATCH',
    values: ['whole', 'partial', 'empty'],
    why: 'Not shown. `partial`: id and all that PATCH can change; `empty`: 204.',
    dropcast: 'needs none',
  },
  delete_answer: {
    about: 'Answer to DELETE /videos/:id',
    values: ['204', '200', '202'],
    why: 'Not shown. 200 comes with {"deleted": true}.',
    dropcast: 'accepts any 2xx',
  },
  second_delete: {
    about: 'DELETE of a video that was deleted',
    values: ['404', '204'],
    why: 'Not shown; the video no longer exists. `204`: like the first one, see delete_answer.',
    dropcast: 'treats both as deleted',
  },
  upload_status: {
    about: 'Answer to the PUT of a file',
    values: ['200', '201', '204'],
    why: 'Not shown. 200 and 201 come with a receipt.',
    dropcast: 'accepts any 2xx',
  },
  upload_redirect: {
    about: 'Redirect of uploads',
    values: ['none', '307'],
    why: 'Not shown. A client must not follow it with its file: a redirected PUT often arrives empty.',
    dropcast: 'waits, names the target, and tries again: a redirect is never followed',
  },
  upload_headers: {
    about: 'Headers that an upload address was signed with',
    values: ['any', 'upload_headers', 'required_headers', 'headers', 'without_type'],
    why: 'Section 4.5 does not show the headers of the PUT. The answer to a creation names them: an object `upload_headers` or `required_headers`, or `headers` as a list of names and values; or the address was signed without a Content-Type and nothing says so (S3 signature version 2). A PUT with others is answered as by an object store: 403 `SignatureDoesNotMatch`, in XML.',
    dropcast:
      'sends what the answer names; after a signature mismatch sends the file once more without Content-Type, and remembers for the host',
  },
  daily_videos: {
    about: 'POST /videos once the account has six videos of the day (UTC)',
    values: ['any', 'quota_reached', 'daily_limit_reached', 'insufficient_storage'],
    why: 'Section 8 shows no limit on videos. `quota_reached`: 403; `daily_limit_reached`: 429, whose `Retry-After` leads to midnight; `insufficient_storage`: 507. All other requests are answered as usual.',
    dropcast: 'lets new files wait as one cause, tries one an hour or at the time of `Retry-After`, and fails none',
  },
  max_upload_size: {
    about: 'PUT of a file larger than 2 MiB',
    values: ['none', '413', '400', 'entity_too_large'],
    why: 'Section 8: upload size is not shown. `413`: a page without the limit, as of a proxy; `400`: JSON whose message names the limit; `entity_too_large`: 400 `EntityTooLarge` in XML, as of S3. The refusal comes before the body is read.',
    dropcast:
      'deletes the empty record, and holds the file and all larger ones; tries one of them a day, and continues once a larger one is accepted',
  },
  upload_protocol: {
    about: 'How a file is sent',
    values: ['put', 'content_range', 'tus'],
    why: 'Section 4.5 shows one PUT, and not what follows if it breaks. `content_range`: a resumable session as of Google Cloud Storage, recognisable by its address; `tus`: tus 1.0, whose host refuses a PUT.',
    dropcast: 'continues where the host says that the file broke off; sends it again from the first byte with `put`',
  },
  expired_address: {
    about: 'PUT to an address that has expired',
    values: ['403', '404', '410'],
    why: 'Not shown; 403 is what signed addresses of object stores answer.',
    dropcast: 'asks for the status, and creates the video again if it is still pending',
  },
  second_put: {
    about: 'PUT of a second file to the same address',
    values: ['409', '200', '404'],
    why: 'Not shown; a complete file is never replaced. 200: treated as a repetition, and discarded.',
    dropcast: 'asks for the status before it sends a file again, so that no second one arrives',
  },
  processing_word: {
    about: 'Status of a video that is being processed',
    values: ['processing', 'pending', 'transcoding'],
    why: 'Section 3 names processing, and not what moves a video on from pending. `transcoding` is a word that a service may add.',
    dropcast: 'treats any word except ready and failed as `not yet`',
  },
  publish_answer: {
    about: 'Answer to POST /feeds/:id/publish',
    values: ['published', 'queued', 'wrapped', 'empty'],
    why: 'Shown bare with `published`. `queued`: 202 without a count; `empty`: 204.',
    dropcast: 'treats any 2xx as published; the count is unknown where the service does not give it',
  },
  idempotency_key: {
    about: 'Idempotency-Key of POST /videos',
    values: ['ignored', 'honoured'],
    why: 'The specification does not mention the header. A key is known until a reset, an import or the end of the process.',
    dropcast: 'sends one only with `service.idempotency_key: true`',
  },
  averages_without_views: {
    about: 'Averages of a video without views',
    values: ['zero', 'null'],
    why: 'Section 2.5 gives numbers; without views there is no average.',
    dropcast: 'shows a dash',
  },
  webhook_form: {
    about: 'Signature of webhooks',
    values: ['standard', 'github', 'unsigned', 'bunny', 'mux', 'cloudflare'],
    why: 'Section 6 says that they are signed, and not how. `standard`: Standard Webhooks; the others as these services document it, with the text of the secret as the key. `github`: `X-Hub-Signature-256: sha256=` and the HMAC of the body in hex; `bunny`: `X-BunnyStream-Signature` with the same hex; `mux`: `Mux-Signature: t=…,v1=…`, `cloudflare`: `Webhook-Signature: time=…,sig1=…`, each over `timestamp.body`.',
    dropcast:
      'takes `standard`; with `service.webhook_scheme: hmac-hex`, `github` and `bunny`; with `timestamped`, `mux` and `cloudflare`. It refuses all others, and finds ready videos by polling',
  },
  extra_fields: {
    about: 'Fields in answers that are not in the specification',
    values: ['no', 'yes'],
    why: 'Section 9 promises nothing; services add fields.',
    dropcast: 'ignores them',
  },
} as const satisfies Readonly<Record<string, OpenPoint>>;

export type SwitchName = keyof typeof openPoints;

/** Number of videos that the sandbox accepts in a day with `daily_videos`. */
export const mostDailyVideos = 6;

/** Largest upload that the sandbox accepts with `max_upload_size`. */
export const mostUploadBytes = 2 * 1024 ** 2;

/** A value for each open point. */
export type Switches = { readonly [Name in SwitchName]: (typeof openPoints)[Name]['values'][number] };

export const switchNames = Object.keys(openPoints) as SwitchName[];

export const defaultSwitches = Object.fromEntries(
  switchNames.map((name) => [name, openPoints[name].values[0]]),
) as unknown as Switches;

/** Plausible services, each defined by its differences from the default. */
export const profiles = {
  default: {},
  strict: { second_put: '404', expired_address: '410', invalid_status: '400' },
  lenient: {
    unknown_fields: 'ignore',
    unknown_parameters: 'ignore',
    per_page_over_100: 'clamp',
    create_status: '200',
    second_put: '200',
    second_delete: '204',
    upload_status: '201',
    expired_address: '404',
    rate_limit_headers: 'dictionary',
  },
  wrapped: { create_body: 'wrapped', publish_answer: 'wrapped' },
  bare: { get_body: 'bare', list_body: 'bare', error_body: 'message' },
  terse: {
    get_fields: 'minimal',
    update_answer: 'empty',
    delete_answer: '200',
    upload_status: '204',
    publish_answer: 'empty',
    averages_without_views: 'null',
    error_body: 'text',
    webhook_form: 'unsigned',
  },
  idempotent: { idempotency_key: 'honoured' },
  'queued-publish': {
    create_status: '202',
    delete_answer: '202',
    publish_answer: 'queued',
    rate_limit_headers: 'seconds',
  },
  'oldest-first': { list_order: 'oldest', rate_limit_headers: 'epoch_ms' },
  'other-webhooks': { webhook_form: 'github' },
  'bunny-webhooks': { webhook_form: 'bunny' },
  'mux-webhooks': { webhook_form: 'mux' },
  'cloudflare-webhooks': { webhook_form: 'cloudflare' },
  'other-errors': {
    error_body: 'problem',
    invalid_status: '400',
    retry_after: 'date',
    rate_limit_headers: 'date',
  },
  'behind-a-proxy': { error_body: 'html', retry_after: 'absent' },
  'reported-limits': { rate_limit_headers: 'epoch', request_id: 'x_request_id', conditional_reads: 'etag' },
  'bursts-unreported': { rate_limit: 'burst' },
  'bursts-reported': { rate_limit: 'burst', rate_limit_headers: 'draft' },
  'bursts-in-milliseconds': { rate_limit: 'burst', rate_limit_headers: 'window_ms' },
  'new-words': { processing_word: 'transcoding', extra_fields: 'yes', get_fields: 'list', update_answer: 'partial' },
  'pending-until-ready': { processing_word: 'pending' },
  'redirecting-uploads': { upload_redirect: '307' },
  'upload-headers': { upload_headers: 'upload_headers' },
  'required-headers': { upload_headers: 'required_headers', create_body: 'wrapped' },
  'listed-headers': { upload_headers: 'headers', extra_fields: 'yes' },
  'signed-without-type': { upload_headers: 'without_type' },
  'daily-quota': { daily_videos: 'quota_reached' },
  'daily-limit': { daily_videos: 'daily_limit_reached' },
  'full-storage': { daily_videos: 'insufficient_storage' },
  'small-uploads': { max_upload_size: '413' },
  'small-objects': { max_upload_size: 'entity_too_large' },
  'small-files': { max_upload_size: '400' },
  'resumable-sessions': { upload_protocol: 'content_range' },
  tus: { upload_protocol: 'tus' },
} as const satisfies Readonly<Record<string, Partial<Switches>>>;

export type ProfileName = keyof typeof profiles;

export const profileNames = Object.keys(profiles) as ProfileName[];
