import { copyFile, cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { execute } from '../../systemd/execute.ts';
import { prepareRoot } from '../../systemd/prepare.ts';
import { howToHave, has } from '../../support/needs.ts';
import { fedoraRoot } from './fedora-root.ts';
import type { FedoraRoot } from './fedora-root.ts';
import { next } from './release-tree.ts';

const missing = (['dnf', 'createrepo_c', 'rpmbuild'] as const).filter((program) => !has(program));
const ground = missing.length > 0 ? howToHave(missing) : await prepareRoot('bookworm');
if (typeof ground === 'string') process.stderr.write(`\n*** NOT CHECKED with dnf: ${ground}\n\n`);

describe.skipIf(typeof ground === 'string')('dnf', () => {
  const tree = inject('releaseTree');
  const repository = join(tree, 'rpm/x86_64');
  const key = join(tree, 'keys/dropcast.asc');
  let root: FedoraRoot;
  beforeAll(async () => {
    root = await fedoraRoot(typeof ground === 'string' ? '' : ground.root, tree);
  });
  afterAll(() => root[Symbol.asyncDispose]());

  const version = async (): Promise<string> => (await root.run('dropcast --version')).stdout.trim();
  /** A copy of the repository with one byte of a file altered. */
  const altered = async (name: string, pattern: RegExp): Promise<string> => {
    const copy = join(root.scratch, name.replaceAll(' ', '-'));
    await cp(repository, copy, { recursive: true });
    const files = await readdir(copy, { recursive: true });
    const file = join(copy, files.find((each) => pattern.test(each)) ?? '');
    const bytes = await readFile(file);
    const middle = bytes.length >> 1;
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    await writeFile(file, bytes);
    return copy;
  };

  test('dnf refuses a repository that another key signed', async () => {
    const theirs = join(root.scratch, 'theirs.asc');
    const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
    const exported = ['gpg', '--no-default-keyring', '--keyring', keyring, '--armor', '--export'] as const;
    await writeFile(theirs, (await execute([...exported])).stdout);
    await root.useRepository({ repository, key: theirs });
    const { code, stdout, stderr } = await root.dnf('install dropcast');
    expect({ code, stdout, stderr }).toMatchObject({ code: 1 });
    expect(stderr).toContain('Bad GPG signature');
  });

  test.each([
    ['a list of packages', /repomd\.xml$/, /Bad GPG signature/],
    ['a package', new RegExp(String.raw`${next}.*\.rpm$`), /checksum|digest|mismatch/i],
  ])('dnf refuses %s that was altered', async (what, pattern, message) => {
    await root.useRepository({ repository: await altered(what, pattern), key });
    const { code, stdout, stderr } = await root.dnf('install dropcast');
    expect({ code, stdout, stderr }).toMatchObject({ code: 1 });
    expect(stderr + stdout).toMatch(message);
    expect((await root.run('ls /usr/bin/dropcast')).code).not.toBe(0);
  });

  test('dnf installs the signed package, which works as that of Debian does', async () => {
    await root.useRepository({ repository, key });
    const { code, stdout, stderr } = await root.dnf('install dropcast-0.1.0');
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
    expect(await version()).toBe('0.1.0');
    const modes = await root.run(
      'stat -c "%a %U:%G %n" /etc/dropcast /etc/dropcast/dropcast.yaml /etc/dropcast/api_key',
    );
    expect(modes.stdout).toBe(
      '750 root:dropcast /etc/dropcast\n640 root:dropcast /etc/dropcast/dropcast.yaml\n600 root:root /etc/dropcast/api_key\n',
    );
  });

  test('dnf upgrades over a ledger with state of every kind, and then refuses the older version in a sentence', async () => {
    const state = '/var/lib/dropcast';
    await root.run(`install -d -o dropcast -g dropcast -m 700 ${state}; echo '# mine' >> /etc/dropcast/dropcast.yaml`);
    for (const name of ['ledger.db', 'ledger.id', 'receipts.jsonl'])
      await copyFile(
        join(import.meta.dirname, '../../ledger/golden/1', name),
        join(root.scratch, 'upper', state, name),
      );
    await root.run(`chown -R dropcast:dropcast ${state}; chmod 600 ${state}/*`);
    const { code, stdout, stderr } = await root.dnf('upgrade dropcast');
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
    expect(await version()).toBe(next);
    expect((await root.run('tail -n 1 /etc/dropcast/dropcast.yaml')).stdout).toBe('# mine\n');
    await root.run(`cat > /root/all.yaml << 'END'\nstate_dir: ${state}\n${settings}END`);
    const list = await root.run('KEY=k dropcast ls --json --limit 100 --config /root/all.yaml');
    expect(list).toMatchObject({ code: 0 });
    expect((JSON.parse(list.stdout) as { files: readonly unknown[] }).files.length).toBeGreaterThan(20);
    const refused = await root.dnf('downgrade dropcast');
    expect(refused.code).toBe(1);
    expect(refused.stdout + refused.stderr).toMatch(/^dropcast: a newer version uses .*\(schema 2\).*$/m);
    expect(await version()).toBe(next);
  });

  test('dnf removes the program, and keeps configuration, key and ledger', async () => {
    const { code, stdout, stderr } = await root.dnf('remove dropcast');
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
    const left = await root.run('ls -d /usr/bin/dropcast /etc/dropcast/dropcast.yaml* /var/lib/dropcast/ledger.db');
    expect(left.stdout).toMatch(/^\/etc\/dropcast\/dropcast\.yaml\S*\n\/var\/lib\/dropcast\/ledger\.db\n$/);
  });
});

const settings = `service: { base_url: https://video.example.com/v1, api_key: !env KEY }
folders: [{ path: /srv/media, rules: [{ match: "**", channel: ch_main }] }]
`;
