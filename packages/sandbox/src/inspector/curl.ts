import { UPLOAD_PREFIX } from '../http/operations.ts';
import type { InspectedRequest } from './details.ts';
import { printCommand, shellWord } from './shell-quoting.ts';

/**
 * Pure: a command for a POSIX shell that sends the same request again. Secrets are in variables: `$DROPCAST_API_KEY`, or `$REFUSED_KEY` if the
 * service did not accept it, and for an upload `$UPLOAD_URL` and the file `$FILE`. What cannot be sent as it was is said in comments above.
 * With https, `$CA` is the file of the authority to trust.
 * @param origin of the service
 */
export function curlCommand(request: InspectedRequest, origin: string): string {
  const { details, method, path } = request;
  const isUpload = path.startsWith(UPLOAD_PREFIX);
  const body = bodyOf(request, isUpload);
  const address = isUpload
    ? '"$UPLOAD_URL"'
    : shellWord(`${origin}${path}${request.query === '' ? '' : `?${request.query}`}`);
  const words = [
    'curl',
    ...(/[[\]{}]/.test(address) ? ['--globoff'] : []), // they would stand for several addresses
    ...(origin.startsWith('https:') ? ['--cacert "$CA"'] : []),
    ...methodOption(method, body.option !== ''),
    address,
    ...Object.entries(details?.requestHeaders ?? {}).flatMap(([name, value]) =>
      name === 'authorization' ? [keyOption(value, request)] : headerOption(name, value),
    ),
    ...(body.option === '' ? [] : [...typeOption(details?.requestHeaders), body.option]),
  ];
  const notes = [...notesOf(request), ...body.notes].map((note) => `# ${note}\n`);
  return `${notes.join('')}${body.source}${words.join(' \\\n  ')}\n`;
}

/** Without a body curl sends GET, with one POST. */
function methodOption(method: string, hasBody: boolean): string[] {
  if (method === 'HEAD') return ['--head'];
  return method === (hasBody ? 'POST' : 'GET') ? [] : [`-X ${shellWord(method)}`];
}

function headerOption(name: string, value: string): string[] {
  if (SET_BY_CURL.has(name)) return [];
  const field = value === '' ? `${name};` : `${name}: ${value}`; // curl's own way to say that it is empty
  return [`-H ${shellWord(Buffer.from(field, 'latin1'))}`]; // as Node reads header fields
}

/** @param shown like `Bearer [key_1]` */
function keyOption(shown: string, request: InspectedRequest): string {
  const scheme = /^[A-Za-z]{1,20} /.exec(shown)?.[0] ?? '';
  return `-H "Authorization: ${scheme}$${isKeyRefused(request) ? 'REFUSED_KEY' : 'DROPCAST_API_KEY'}"`;
}

/** Nobody knows whether the key of a request is valid that a fault answered. */
function isKeyRefused({ status, keyId, fault, details }: InspectedRequest): boolean {
  return status === 401 && keyId === null && fault === null && details?.requestHeaders['authorization'] !== undefined;
}

/** Without a type curl sends one of its own. */
function typeOption(headers: Readonly<Record<string, string>> = {}): string[] {
  return headers['content-type'] === undefined ? ['-H content-type:'] : [];
}

const SET_BY_CURL = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'accept-encoding',
  'expect',
  'keep-alive',
]);

interface Body {
  readonly option: string;
  /** What to pipe into curl. */
  readonly source: string;
  readonly notes: readonly string[];
}

function bodyOf({ details, method }: InspectedRequest, isUpload: boolean): Body {
  const nothing = { option: '', source: '', notes: [] };
  const body = details?.requestBody;
  const declared = details?.requestHeaders['content-length'];
  // An empty file has a length too, and the service wants it.
  if (isUpload && method === 'PUT' && declared !== undefined) return { ...nothing, option: '--data-binary @"$FILE"' };
  if (!body || (body.sizeBytes === 0 && Number(declared ?? 0) === 0)) return nothing;
  if (isUpload) return { ...nothing, option: '--data-binary @"$FILE"' };
  if (method === 'HEAD')
    return { ...nothing, notes: [`curl sends no body with HEAD: ${declared ?? body.sizeBytes} bytes are left out.`] };
  const isWhole = body.isComplete && !body.isCut;
  if (!isWhole) {
    const notes = [`The journal has only a part of the body, ${body.sizeBytes} bytes: put the whole into $FILE.`];
    return { ...nothing, option: '--data-binary @"$FILE"', notes };
  }
  const bytes = body.text === null ? body.firstBytes : Buffer.from(body.text);
  if (bytes.includes(0)) return { ...nothing, option: '--data-binary @-', source: `${printCommand(bytes)} | ` };
  // A word that begins with @ would be the name of a file.
  return bytes.at(0) === AT
    ? { ...nothing, option: '--data-binary @-', source: `${printCommand(bytes)} | ` }
    : { ...nothing, option: `--data-binary ${shellWord(bytes)}` };
}

const AT = 0x40;

function notesOf(request: InspectedRequest): string[] {
  const { details, path, query } = request;
  const shown = [path, query, ...Object.values(details?.requestHeaders ?? {}), details?.requestBody.text ?? ''].join(
    '\n',
  );
  return [
    ...(details === undefined ? ['The journal has dropped the headers and the body of this request.'] : []),
    ...([path, query].some((text) => text.endsWith('…'))
      ? ['The address is cut: the journal keeps 300 characters of path and query.']
      : []),
    ...(isKeyRefused(request) ? ['The service did not accept the key: put it into $REFUSED_KEY.'] : []),
    ...(/\[(masked|secret|key|token)\]/.test(shown.replaceAll(/Bearer \[masked\]/g, '')) &&
    !path.startsWith(UPLOAD_PREFIX)
      ? ['Words in brackets such as [masked] stand for secrets: put them in.']
      : []),
  ];
}
