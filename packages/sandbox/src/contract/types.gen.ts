/** Made from openapi.yaml by `npm run generate`. */

export type VideoId = string;
export type ChannelId = string;
export type FeedId = string;
export type Timestamp = string;
export type Day = string;
export type Address = string;
export type UploadAddress = string;
export type FeedAddress = string;
export type Title = string;
export type Description = string;
export type Tags = string[];
export type ChannelName = string;
export type VideoStatus = 'pending' | 'processing' | 'ready' | 'failed';

export interface PlayerSettings {
  [k: string]: unknown;
}
export interface Failure {
  code: string;
  message: string;
}
export interface NewVideo {
  title: Title;
  description?: Description;
  channel_id?: ChannelId;
  tags?: Tags;
  source_url?: string;
}
export interface CreatedVideo {
  id: VideoId;
  upload_url: UploadAddress;
  status: 'pending';
}
export interface VideoChange {
  title?: Title;
  description?: Description;
  tags?: Tags;
}
export interface VideoListItem {
  id: VideoId;
  title: Title;
  status: VideoStatus;
  duration: number | null;
  created_at: Timestamp;
  thumbnail_url: string | null;
  embed_url: Address;
}
export interface Video {
  id: VideoId;
  title: Title;
  status: VideoStatus;
  duration: number | null;
  created_at: Timestamp;
  thumbnail_url: string | null;
  embed_url: Address;
  description: string | null;
  channel_id: ChannelId;
  tags: Tags;
  source_url: string | null;
  error?: Failure;
}
export interface UploadReceipt {
  id: VideoId;
  status: 'processing';
  size: number;
  sha256: string;
}
export interface ChannelListItem {
  id: ChannelId;
  name: ChannelName;
  slug: string;
  video_count: number;
  created_at: Timestamp;
}
export interface Channel {
  id: ChannelId;
  name: ChannelName;
  slug: string;
  video_count: number;
  created_at: Timestamp;
  description: string | null;
  default_player_settings: PlayerSettings;
}
export interface ChannelChange {
  name?: ChannelName;
  description?: Description;
  default_player_settings?: PlayerSettings;
}
export interface Feed {
  id: FeedId;
  name: string;
  type: 'mrss' | 'podcast' | 'ctv';
  channel_id: ChannelId;
  url: FeedAddress;
  last_published_at: string | null;
}
export interface PublishResult {
  feed_id: FeedId;
  status: 'published';
  published_at: Timestamp;
  video_count: number;
}
export interface Period {
  from: Day;
  to: Day;
}
export interface VideoAnalytics {
  video_id: VideoId;
  period: Period;
  views: number;
  unique_viewers: number;
  avg_watch_time_seconds: number;
  completion_rate: number;
}
export interface TopVideo {
  id: VideoId;
  title: Title;
  views: number;
}
export interface AnalyticsOverview {
  period: Period;
  total_views: number;
  unique_viewers: number;
  top_videos: TopVideo[];
}
export interface PageMeta {
  page: number;
  per_page: number;
  total: number;
}
export interface VideoList {
  data: VideoListItem[];
  meta: PageMeta;
}
export interface VideoAnswer {
  data: Video;
}
export interface ChannelList {
  data: ChannelListItem[];
}
export interface ChannelAnswer {
  data: Channel;
}
export interface FeedList {
  data: Feed[];
}
export interface VideoAnalyticsAnswer {
  data: VideoAnalytics;
}
export interface VideoAnalyticsList {
  data: VideoAnalytics[];
  meta: PageMeta;
}
export interface OverviewAnswer {
  data: AnalyticsOverview;
}
export interface VideoReadyEvent {
  type: 'video.ready';
  timestamp: Timestamp;
  data: Video;
}
export interface VideoFailedEvent {
  type: 'video.failed';
  timestamp: Timestamp;
  data: Video;
}
export interface FeedPublishedEvent {
  type: 'feed.published';
  timestamp: Timestamp;
  data: PublishResult;
}
export interface ErrorAnswer {
  error: {
    code: string;
    message: string;
  };
}
