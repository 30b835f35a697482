/** Made from openapi.yaml by `npm run generate`. */

/**
 * Identifier of a video, with the prefix `vid_`.
 */
export type VideoId = string;
/**
 * Identifier of a channel, with the prefix `ch_`.
 */
export type ChannelId = string;
/**
 * Identifier of a feed, with the prefix `feed_`.
 */
export type FeedId = string;
/**
 * ISO 8601, in UTC.
 */
export type Timestamp = string;
/**
 * A date, `YYYY-MM-DD`.
 */
export type Day = string;
/**
 * An absolute http or https URL.
 */
export type Address = string;
/**
 * The title of the video. Well-formed Unicode without NUL, not blank (assumed).
 */
export type Title = string;
/**
 * A longer text. Well-formed Unicode without NUL (assumed).
 */
export type Description = string;
/**
 * Keywords, in the given order.
 *
 * @maxItems 200
 */
export type Tags = string[];
/**
 * The name of the channel. Well-formed Unicode without NUL, not blank (assumed).
 */
export type ChannelName = string;
/**
 * `pending` on creation, `processing` when the file is there, then `ready` or `failed`. What moves a video onward
 * is not shown; the complete upload is assumed.
 */
export type VideoStatus = 'pending' | 'processing' | 'ready' | 'failed';

/**
 * How the player of the channel's videos looks and behaves. Its inner structure is not shown.
 */
export interface PlayerSettings {
  [k: string]: unknown;
}
/**
 * Why a video failed.
 */
export interface Failure {
  /**
   * `empty_file`, `truncated_file`, `damaged_file`, `unsupported_format`, `import_failed`, or another.
   */
  code: string;
  /**
   * The reason in words.
   */
  message: string;
}
/**
 * The fields of a new video.
 */
export interface NewVideo {
  title: Title;
  description?: Description;
  channel_id?: ChannelId;
  tags?: Tags;
  /**
   * Where to import the file from, http or https, without user name and password.
   */
  source_url?: string;
}
/**
 * The new video.
 */
export interface CreatedVideo {
  id: VideoId;
  upload_url: Address;
  /**
   * Always `pending`.
   */
  status: 'pending';
}
/**
 * The fields to change.
 */
export interface VideoChange {
  title?: Title;
  description?: Description;
  tags?: Tags;
}
/**
 * A video in a list.
 */
export interface VideoListItem {
  id: VideoId;
  title: Title;
  status: VideoStatus;
  /**
   * Whole seconds, at least 1; null until the video is ready, or if the file does not record it.
   */
  duration: number | null;
  created_at: Timestamp;
  /**
   * A still picture; null until the video is ready.
   */
  thumbnail_url: string | null;
  embed_url: Address;
}
/**
 * A video with all its fields. Which fields `GET /videos/{id}` returns is not shown; all that a video has, but
 * `upload_url`, which is returned only when a video is created.
 */
export interface Video {
  id: VideoId;
  title: Title;
  status: VideoStatus;
  /**
   * Whole seconds, at least 1; null until the video is ready, or if the file does not record it.
   */
  duration: number | null;
  created_at: Timestamp;
  /**
   * A still picture; null until the video is ready.
   */
  thumbnail_url: string | null;
  embed_url: Address;
  /**
   * Null if it was never set.
   */
  description: string | null;
  channel_id: ChannelId;
  tags: Tags;
  /**
   * Where the file was imported from; null for an upload.
   */
  source_url: string | null;
  error?: Failure;
}
/**
 * The stored file.
 */
export interface UploadReceipt {
  id: VideoId;
  /**
   * Always `processing`.
   */
  status: 'processing';
  /**
   * Number of bytes stored.
   */
  size: number;
  /**
   * SHA-256 of the stored file, in lower-case hexadecimal.
   */
  sha256: string;
}
/**
 * A channel in the list.
 */
export interface ChannelListItem {
  id: ChannelId;
  name: ChannelName;
  /**
   * The name as used in URLs.
   */
  slug: string;
  /**
   * Number of its videos.
   */
  video_count: number;
  created_at: Timestamp;
}
/**
 * A channel with its settings.
 */
export interface Channel {
  id: ChannelId;
  name: ChannelName;
  /**
   * The name as used in URLs.
   */
  slug: string;
  /**
   * Number of its videos.
   */
  video_count: number;
  created_at: Timestamp;
  /**
   * Null if it was never set.
   */
  description: string | null;
  default_player_settings: PlayerSettings;
}
/**
 * The settings to change.
 */
export interface ChannelChange {
  name?: ChannelName;
  description?: Description;
  default_player_settings?: PlayerSettings;
}
/**
 * A distribution feed.
 */
export interface Feed {
  id: FeedId;
  /**
   * The name of the feed.
   */
  name: string;
  /**
   * Its format.
   */
  type: 'mrss' | 'podcast' | 'ctv';
  channel_id: ChannelId;
  url: Address;
  /**
   * ISO 8601, in UTC; null before the first publish.
   */
  last_published_at: string | null;
}
/**
 * The result of a publish.
 */
export interface PublishResult {
  feed_id: FeedId;
  /**
   * Always `published`.
   */
  status: 'published';
  published_at: Timestamp;
  /**
   * Number of videos in the feed.
   */
  video_count: number;
}
/**
 * The first and the last day of the period, both inclusive.
 */
export interface Period {
  from: Day;
  to: Day;
}
/**
 * Views and engagement of a video.
 */
export interface VideoAnalytics {
  video_id: VideoId;
  period: Period;
  /**
   * Number of plays.
   */
  views: number;
  /**
   * Number of different viewers.
   */
  unique_viewers: number;
  /**
   * Seconds watched per view.
   */
  avg_watch_time_seconds: number;
  /**
   * The fraction of views that reached the end.
   */
  completion_rate: number;
}
/**
 * One of the most viewed videos.
 */
export interface TopVideo {
  id: VideoId;
  title: Title;
  /**
   * Number of plays.
   */
  views: number;
}
/**
 * Views of the account or of a channel.
 */
export interface AnalyticsOverview {
  period: Period;
  /**
   * Number of plays.
   */
  total_views: number;
  /**
   * Number of different viewers.
   */
  unique_viewers: number;
  /**
   * The most viewed videos, most views first.
   */
  top_videos: TopVideo[];
}
/**
 * Position of a page.
 */
export interface PageMeta {
  /**
   * Number of this page.
   */
  page: number;
  /**
   * Items on a page.
   */
  per_page: number;
  /**
   * Items on all pages.
   */
  total: number;
}
/**
 * One page of videos.
 */
export interface VideoList {
  /**
   * The videos of the page.
   *
   * @maxItems 100
   */
  data: VideoListItem[];
  meta: PageMeta;
}
/**
 * One video.
 */
export interface VideoAnswer {
  data: Video;
}
/**
 * All channels.
 */
export interface ChannelList {
  /**
   * The channels.
   */
  data: ChannelListItem[];
}
/**
 * One channel.
 */
export interface ChannelAnswer {
  data: Channel;
}
/**
 * All feeds.
 */
export interface FeedList {
  /**
   * The feeds.
   */
  data: Feed[];
}
/**
 * The record of one video.
 */
export interface VideoAnalyticsAnswer {
  data: VideoAnalytics;
}
/**
 * One page of records.
 */
export interface VideoAnalyticsList {
  /**
   * A record for each video of the page.
   *
   * @maxItems 100
   */
  data: VideoAnalytics[];
  meta: PageMeta;
}
/**
 * The overview.
 */
export interface OverviewAnswer {
  data: AnalyticsOverview;
}
/**
 * A video is ready.
 */
export interface VideoReadyEvent {
  /**
   * What happened.
   */
  type: 'video.ready';
  timestamp: Timestamp;
  data: Video;
}
/**
 * A video has failed.
 */
export interface VideoFailedEvent {
  /**
   * What happened.
   */
  type: 'video.failed';
  timestamp: Timestamp;
  data: Video;
}
/**
 * A feed was published.
 */
export interface FeedPublishedEvent {
  /**
   * What happened.
   */
  type: 'feed.published';
  timestamp: Timestamp;
  data: PublishResult;
}
/**
 * The format of every answer other than 2xx.
 */
export interface ErrorAnswer {
  /**
   * What went wrong.
   */
  error: {
    /**
     * For programs; see the table of errors.
     */
    code: string;
    /**
     * For people.
     */
    message: string;
  };
}
