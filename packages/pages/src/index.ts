export { assetsAt, type Assets } from './assets/assets.ts';
export { barChart, type Bar, type BarChart } from './bar-chart.ts';
export {
  addressOf,
  badge,
  button,
  card,
  commandLine,
  confirmed,
  emptyState,
  facts,
  named,
  outside,
} from './elements.ts';
export { pagination, select, table, time, timeline, unseen } from './elements.ts';
export type { BadgeKind, Choice, Column, Html, Step } from './elements.ts';
export { document, frame, type Frame, type Theme, type View } from './frame.ts';
export { liveAnswer, type LiveSource } from './live-answer.ts';
export { counted, fileSize, grouped, percent, span, visibleLines, visibleText } from './words.ts';
