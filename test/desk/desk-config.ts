export interface Ports {
  readonly service: number;
  readonly messages: number;
  /** null: there is no page. */
  readonly page: number | null;
}

/** The configuration of the desk, as its operator wrote it. */
export function deskConfig({ service, messages, page }: Ports): string {
  return `\
service:
  base_url: http://127.0.0.1:${service}/v1
  api_key: !file key
state_dir: state
host_name: ingest1
folders:
  - path: bulletins
    notify: [anna]
    rescan: 10m
    expect: [{ match: "evening*.mp4", by: "18:30" }]
    ready_by: "18:30"
    rules:
      - match: "**"
        channel: ch_news
        title: "Bulletin {title}"
        publish: [feed_news]
        priority: high
  - path: sport
    notify: [ben]
    rescan: 10m
    rules:
      - match: "**"
        channel: ch_main
        title: "Sport: {title}"
        tags: [sport]
  - path: archive
    rescan: 10m
    rules:
      - match: "**"
        channel: ch_main
        priority: low
status: { listen: ${page === null ? 'off' : `"127.0.0.1:${page}"`} }
exports: [{ to: links.csv }]
notify:
  - type: webhook
    name: petra
    url: http://127.0.0.1:${messages}/petra
    on: [live, needs_you, recovered, folder_away, paused, key_refused, feed_failed, budget, missing]
  - { type: webhook, name: anna, url: "http://127.0.0.1:${messages}/anna" }
  - { type: webhook, name: ben, url: "http://127.0.0.1:${messages}/ben" }
`;
}
