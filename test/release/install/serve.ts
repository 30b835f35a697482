import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';

// node serve.ts DIRECTORY PORT [PART]
//
// Serves a directory to this machine. Of files whose path has PART in it, one byte in the middle is another one.

const [directory = '.', port, part] = process.argv.slice(2);

const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
  void answer(path).catch(() => response.writeHead(404).end());

  async function answer(name: string): Promise<void> {
    const file = join(directory, name);
    const found = await stat(file);
    if (!found.isFile()) throw new Error('not a file');
    response.writeHead(200, { 'content-length': found.size });
    if (part === undefined || !name.includes(part)) createReadStream(file).pipe(response);
    else response.end(altered(await readFile(file)));
  }
});

function altered(bytes: Buffer): Buffer {
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  return bytes;
}

server.listen(Number(port), '127.0.0.1');
await once(server, 'listening');
process.stdout.write('ready\n');
