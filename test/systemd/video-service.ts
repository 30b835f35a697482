import { expect } from 'vitest';
import type { Box } from './box.ts';

/** `dropcast sandbox` of the package, as a service in the box: see docs/sandbox.md. */
export interface VideoService {
  /** The key that it takes from its start. */
  key(): Promise<string>;
  /** All videos with this title. */
  videos(title: string): Promise<readonly Video[]>;
  /** Of the bytes that it keeps of a video. */
  sha256(video: string): Promise<string>;
  /** Plans these faults and no others. */
  faults(...faults: readonly Readonly<Record<string, unknown>>[]): Promise<void>;
  /** Bodies of uploads that arrived whole. */
  uploads(video: string): Promise<number>;
  newKey(): Promise<{ readonly id: string; readonly key: string }>;
  revokeKey(id: string): Promise<void>;
}

export interface Video {
  readonly id: string;
  readonly title: string;
  readonly status: string;
}

export const serviceUrl = 'http://127.0.0.1:8787/v1';

const said = '/run/sandbox.json';

/** It comes up with the machine and before dropcast, and keeps what it has, as a service elsewhere would over our power cut. */
const unit = `[Unit]
Before=dropcast.service
[Service]
ExecStart=/usr/bin/dropcast sandbox --json --port 8787 --data /var/lib/sandbox --requests-per-hour 1000000
StandardOutput=truncate:${said}
ExecStartPost=/bin/sh -c 'until [ -s ${said} ]; do sleep 0.1; done'
[Install]
WantedBy=multi-user.target
`;

export async function startVideoService(box: Box): Promise<VideoService> {
  await box.read('cat > /etc/systemd/system/sandbox.service && systemctl enable --now --quiet sandbox', {
    input: unit,
  });
  const facts = async () => JSON.parse(await box.read(`cat ${said}`)) as Facts;
  const ask = async <T>(secret: string, url: string, ...args: readonly string[]): Promise<T> => {
    const call = ['curl', '-sS', '--fail-with-body', '-H', `Authorization: Bearer ${secret}`, ...args, url] as const;
    const { code, stdout, stderr } = await box.outside(call);
    expect({ code, stdout, stderr }, `${url} answered`).toMatchObject({ code: 0 });
    return (stdout === '' ? {} : JSON.parse(stdout)) as T;
  };
  const admin = async <T>(path: string, ...args: readonly string[]): Promise<T> => {
    const { admin_url: url, admin_token: token } = await facts();
    return await ask<T>(token, `${url}${path}`, ...args);
  };
  return {
    key: async () => (await facts()).api_key,
    videos: async (title) => {
      const { base_url: url, api_key: key } = await facts();
      const { data } = await ask<{ data: readonly Video[] }>(key, `${url}/videos?per_page=100`);
      return data.filter((video) => video.title === title);
    },
    sha256: async (video) => {
      const { stdout } = await box.outside([
        'bash',
        '-c',
        `curl -sS --fail ${serviceUrl.replace('/v1', '')}/cdn/videos/${video}.mp4 | sha256sum`,
      ]);
      return stdout.slice(0, 64);
    },
    faults: async (...faults) => {
      await admin('/faults', '-X', 'PUT', '--json', JSON.stringify(faults));
    },
    uploads: async (video) => {
      const path = '/requests?operation=uploads.put&status=2xx&limit=1000';
      const { data } = await admin<{ data: readonly { readonly path: string }[] }>(path);
      return data.filter((request) => request.path.includes(video)).length;
    },
    newKey: async () =>
      (await admin<{ data: { id: string; key: string } }>('/keys', '--json', '{"name": "a newer one"}')).data,
    revokeKey: async (id) => {
      await admin(`/keys/${id}`, '-X', 'DELETE');
    },
  };
}

interface Facts {
  readonly base_url: string;
  readonly api_key: string;
  readonly admin_url: string;
  readonly admin_token: string;
}
