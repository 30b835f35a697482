import { expect, test } from 'vitest';
import { KnownSecrets } from '../../packages/recorder/src/cleaning/known-secrets.ts';
import { UploadAddresses } from '../../packages/recorder/src/upload-addresses.ts';

const recorder = 'http://127.0.0.1:4000';

test.each([
  ['https://video.example.com/v1', 'http://127.0.0.1:80/v1/agent', false],
  ['https://video.example.com/v1', 'https://localhost/x', false],
  ['https://video.example.com/v1', 'https://uploads.example.com/x', true],
  ['http://127.0.0.1:8080/v1', 'http://127.0.0.1:9090/x', true],
  ['http://127.0.0.1:8080/v1', 'http://far.example/x', false],
])('a recorder of %s sends to %s: %s', (service, address, isSent) => {
  const addresses = new UploadAddresses(new KnownSecrets(), recorder, new URL(service));
  const body = addresses.replaceIn(Buffer.from(JSON.stringify({ id: 'v1', upload_url: address }))).toString();
  expect(body.includes(recorder)).toBe(isSent);
  expect(body.includes(address)).toBe(!isSent);
});

test.each([
  ['https://storage.googleapis.com/b/o?upload_id=opaque-session', true],
  ['https://uploads.example.com/x?uploadType=resumable&upload_id=opaque-session', true],
  ['https://uploads.example.com/x?upload_id=opaque-session', false],
  ['https://uploads.example.com/x?uploadType=resumable', false],
])('%s is still a session for the program: %s', (address, isSession) => {
  const secrets = new KnownSecrets();
  const addresses = new UploadAddresses(secrets, recorder, new URL('https://video.example.com/v1'));
  const body = addresses.replaceIn(Buffer.from(JSON.stringify({ id: 'v1', upload_url: address }))).toString();
  expect(/\?uploadType=resumable&upload_id=/.test(body)).toBe(isSession);
  expect(body).not.toContain('opaque-session');
  if (address.includes('opaque')) expect(secrets.remove('an opaque-session')).not.toContain('opaque-session');
});
