import { openPoints, profiles, switchNames } from '../packages/sandbox/src/profiles/switch-table.ts';
import { recognitions } from '../packages/recorder/src/compare/recognitions.ts';

/**
 * docs/sandbox-profiles.md: how the sandbox can settle the points that the specification leaves open, and what dropcast
 * does with each.
 */
export function sandboxProfiles(): string {
  const points = Object.entries(openPoints).map(
    ([name, { about, values, why, dropcast }]) =>
      `| \`${name}\` | ${about} | ${values.map((value, index) => (index === 0 ? `**${value}**` : value)).join(', ')} | ${why} | ${dropcast} |`,
  );
  const sets = Object.entries(profiles).map(
    ([name, set]) => `| \`${name}\` | ${settled(set)} | ${results[name] ?? usual} |`,
  );
  const shown = switchNames.map((name) => `| \`${name}\` | ${recognitions[name]?.from ?? unseen} |`);
  return [
    '# Profiles of the local service',
    `The [specification](api-spec.md) leaves points open, and a real service settles them in its own way. The sandbox can settle each of them in other ways, so that a program can be tried against the service
that it may meet. Made from the code by \`npm run generate\`.`,
    `\`\`\`sh
dropcast sandbox --profile lenient
dropcast sandbox --set create_status=202 --set publish_answer=queued
\`\`\``,
    `While it runs, \`PUT /_sandbox/profile\` with \`{"profile": "lenient", "switches": {"create_status": "202"}}\` changes it, \`POST /_sandbox/profile/switches\` sets single points, and \`GET\` tells what is
set and what there is. A reset brings back what it was started with; data folders and snapshots do not hold it. A fault that answers itself says what it says, whatever the switches are. \`startSandbox({ profile, switches })\` takes the same. The contract, [openapi.yaml](../packages/sandbox/openapi.yaml), describes the
default.`,
    '## Profiles',
    `The daemon's tests run against each of them. \`npm run test:packages\` has a short one: a clip, a sound that comes twice, and a file that cannot be played; one request meets a 503, one a rate limit, and the answers to a creation and to an upload are lost.`,
    `\`npm run test:profiles\` has whole lives, with each profile and with random switches: files are dropped, changed, renamed, doubled, described late, imported, adopted, moved and deleted, ignored and tried again; requests fail in every way, upload
addresses expire, the key uses up its hour, and the daemon is killed and started again. One judge checks the result: nothing lost, nothing doubled, every file ended, no request that the service refuses, every ready video in its feed with its newest
title, and what \`ls\`, \`status\`, \`plan\` and \`check --online\` say is so. Bugs are planted to prove that the judge notices them. \`npm run test:profiles -- --replay lenient@2\` plays one life again.`,
    ['| profile | otherwise than the default | the daemon |', '|---|---|---|', ...sets].join('\n'),
    '## Points',
    ['| switch | about | values, **default** first | why | dropcast |', '|---|---|---|---|---|', ...points].join('\n'),
    '## What a recording shows',
    `[\`dropcast sandbox compare\`](record.md#a-sandbox-like-the-service) names the switches that make the sandbox do as a recorded service does. Each is recognised from answers that came whole.`,
    ['| switch | recognised from |', '|---|---|', ...shown].join('\n'),
  ]
    .join('\n\n')
    .concat('\n');
}

const unseen = 'nothing: webhooks do not pass the recorder';

const usual = 'every file ends as with the default: nothing lost, nothing doubled';

const results: Readonly<Record<string, string>> = {
  'redirecting-uploads':
    'every file waits, and the reason names the target of the redirect; nothing arrives until the service takes uploads itself, then all files continue',
};

function settled(set: object): string {
  const pairs = Object.entries(set).map(([name, value]) => `\`${name}=${String(value)}\``);
  return pairs.length === 0 ? 'nothing' : pairs.join(' ');
}
