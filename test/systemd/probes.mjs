// What a program tries that has taken over the service. Prints what became of each attempt, as JSON.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';

const state = process.env.STATE_DIRECTORY;

function attempt(act) {
  try {
    return act() ?? 'allowed';
  } catch (error) {
    return error.code ?? error.name;
  }
}

const write = (path) => attempt(() => writeFileSync(path, 'probe', { flag: 'a' }));
const read = (path) => attempt(() => void readFileSync(path));
const look = (path) => attempt(() => (readdirSync(path).length === 0 ? 'nothing there' : 'allowed'));
const start = (program) => attempt(() => spawnSync(program, ['-c', 'true']).error?.code);

const connecting = () =>
  new Promise((resolve) => {
    const socket = connect(80, '169.254.169.254');
    socket.on('connect', () => resolve('allowed')).on('error', ({ code }) => resolve(code));
    // What systemd refuses is a packet that is never sent.
    socket.setTimeout(2_000, () => socket.destroy(Object.assign(new Error('too late'), { code: 'no answer' })));
  });

const listening = () =>
  new Promise((resolve) => {
    const server = createServer();
    server.on('error', ({ code }) => resolve(code));
    server.listen(4444, () => server.close(() => resolve('allowed')));
  });

const results = {
  'write to /etc': write('/etc/probe'),
  'write to /usr': write('/usr/lib/dropcast/dist/probe.js'),
  'write to /srv': write('/srv/probe'),
  'add a configuration': write('/etc/dropcast/probe.yaml'),
  'read /etc/shadow': read('/etc/shadow'),
  'read the key file': read('/etc/dropcast/api_key'),
  'look into /root': look('/root'),
  'look into /home': look('/home'),
  'see other processes': attempt(() => (readdirSync('/proc').includes('1') ? 'allowed' : 'nothing there')),
  'start a shell': start('/bin/sh'),
  'start a program of its own': attempt(() => {
    copyFileSync('/usr/lib/dropcast/bin/node', `${state}/probe`);
    chmodSync(`${state}/probe`, 0o755);
    return spawnSync(`${state}/probe`, ['--version']).error?.code;
  }),
  'become root': attempt(() => process.setuid(0)),
  'make a set-uid file': attempt(() => chmodSync(`${state}/probe`, 0o4755)),
  'reach the metadata service': await connecting(),
  'listen on a TCP port': await listening(),
  'make code': attempt(() => void Reflect.construct(Function, ['return 1'])),
  'use WebAssembly': attempt(() => void WebAssembly.Module),
};
attempt(() => rmSync(`${state}/probe`));
process.stdout.write(JSON.stringify(results));
