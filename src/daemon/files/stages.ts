/** The way of a file in six words, and the states of each. What waits to be tried again, and what has ended otherwise, is in none. */
export const stages: Readonly<Record<string, readonly string[] | undefined>> = {
  settling: ['settling'],
  queued: ['queued', 'creating', 'awaiting upload'],
  uploading: ['uploading'],
  processing: ['processing'],
  publishing: ['awaiting publish'],
  live: ['done'],
};
