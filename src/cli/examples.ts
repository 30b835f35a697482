import type { Command } from 'commander';

/** Command lines that --help shows and the manual prints, of commands whose options do not explain themselves. */
const examples: Readonly<Record<string, readonly string[]>> = {
  ls: ['ls --state failed,held', 'ls --since today --query evening --json'],
  events: ['events -f --level warn', 'events --since 7d --level warn'],
  failures: ['failures --since 7d'],
  retry: ['retry --all', 'retry --cause unknown_channel --to ch_news'],
  ignore: ['ignore --state held --query .mkv --plan', 'ignore --undo evening.mp4'],
  pause: ['pause --all --until 18:00', 'pause /srv/video/inbox'],
  setup: ['setup --service https://video.example.com/v1 --key-file api_key --plan'],
  doctor: ['doctor --canary', 'doctor --bundle report.tar.gz'],
  explain: ['explain /srv/video/inbox/evening.mp4'],
  reapply: ['reapply --since 7d', 'reapply --folder /srv/video/inbox --yes'],
  adopt: ['adopt', 'adopt --confirm'],
  hosts: ['hosts', 'hosts drain ingest2 --wait', 'hosts drain ingest2 --undo'],
};

/** Adds them behind the options. */
export function addExamples(program: Command): void {
  for (const command of program.commands) {
    const lines = examples[command.name()] ?? [];
    if (lines.length === 0) continue;
    const title = lines.length === 1 ? 'Example' : 'Examples';
    command.addHelpText('after', `\n${title}:\n${lines.map((line) => `  $ dropcast ${line}`).join('\n')}`);
  }
}
