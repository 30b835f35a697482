import { serviceUrl } from '../video-service.ts';

/** A configuration with short times. The key comes from systemd, the directory of the state too. */
export function settings(folders: readonly string[], extra = ''): string {
  const rules = '[{ match: "**", channel: ch_main }]';
  return `service: { base_url: ${serviceUrl}, api_key: !credential api_key, requests_per_hour: 1000000 }
uploads: { concurrency: 4 }
retry: { attempts: 12, first: 200ms, max: 1s }
poll: { interval: 1s }
folders:
${folders.map((path) => `  - { path: ${JSON.stringify(path)}, settle: 500ms, rescan: 1s, ${extra}rules: ${rules} }\n`).join('')}`;
}
