import { leftAloneNames } from '../src/watch/left-alone-names.ts';

/** `docs/left-alone-names.md`: every name that dropcast leaves alone. */
export function leftAlonePage(): string {
  const groups = Map.groupBy(leftAloneNames, ({ reason, program, source }) => [program, reason, source].join(' | '));
  const rows = groups
    .entries()
    .map(([facts, names]) => `| ${names.map(({ name }) => `\`${name}\``).join(' ')} | ${facts} |`);
  return `# Names that dropcast leaves alone

A file or directory with one of these names is never uploaded, at any depth of a watched folder. Case is ignored; \`*\` is any characters, \`?\` is one,
\`EXT\` is an extension. \`dropcast explain PATH\` names the row that takes a path. To upload such a file, rename it.

A part of a download such as \`clip.f137.mp4\` (yt-dlp) waits only as long as a \`.part\`, \`.ytdl\` or \`.temp.\` file of the same download lies next to
it: \`race.f1.mp4\` is a video.

| name | program | why | source |
|---|---|---|---|
${[...rows].join('\n')}
`;
}
