import { expect, test } from 'vitest';
import { Events, type SandboxEvent } from '../../../packages/sandbox/src/events.ts';
import { Clock } from '../../../packages/sandbox/src/clock.ts';
import { openRecords } from '../../../packages/sandbox/src/store/records.ts';
import { KeyDesk } from '../../../packages/sandbox/src/admin/keys.ts';

test('each creation and each first revocation of a key is an event', () => {
  const events = new Events();
  const heard: SandboxEvent[] = [];
  events.listen((event) => heard.push(event));
  const desk = new KeyDesk({ keys: openRecords(':memory:').keys, clock: new Clock(() => 0), events });
  desk.create('CI', false);
  desk.revoke('key_1');
  desk.revoke('key_1');
  desk.revoke('key_2');
  expect(heard).toEqual([
    { type: 'key.changed', id: 'key_1' },
    { type: 'key.changed', id: 'key_1' },
  ]);
});
