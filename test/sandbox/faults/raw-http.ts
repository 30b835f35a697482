import { connect } from 'node:net';

export interface RawExchange {
  /** All that came back. */
  readonly text: string;
  /** How the connection ended: regularly, or by an error such as ECONNRESET. */
  readonly end: string;
}

/** Sends bytes and listens until the other side ends the connection, or `until` says that enough has come. */
export function talk(
  port: number,
  sent: string | Buffer,
  until: (text: string) => boolean = () => false,
): Promise<RawExchange> {
  return new Promise((resolve) => {
    let text = '';
    let end = 'closed';
    const socket = connect(port, '127.0.0.1', () => socket.write(sent));
    socket.setEncoding('latin1');
    socket.on('data', (data: string) => {
      text += data;
      if (!until(text)) return;
      end = 'enough';
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => (end = error.code ?? error.message));
    socket.on('close', () => resolve({ text, end }));
  });
}

/** The text of a request. */
export function requestText(line: string, headers: Record<string, string | number>, body = ''): string {
  const fields = Object.entries({ Host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${fields.join('')}\r\n${body}`;
}
