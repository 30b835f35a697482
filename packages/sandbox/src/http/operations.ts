/** The API's operations: the single list behind routing, the journal and the `Allow` header. */
export const operations = [
  { name: 'videos.list', method: 'GET', path: '/v1/videos' },
  { name: 'videos.create', method: 'POST', path: '/v1/videos' },
  { name: 'videos.get', method: 'GET', path: '/v1/videos/:id' },
  { name: 'videos.update', method: 'PATCH', path: '/v1/videos/:id' },
  { name: 'videos.delete', method: 'DELETE', path: '/v1/videos/:id' },
  { name: 'channels.list', method: 'GET', path: '/v1/channels' },
  { name: 'channels.update', method: 'PATCH', path: '/v1/channels/:id' },
  { name: 'feeds.list', method: 'GET', path: '/v1/feeds' },
  { name: 'feeds.publish', method: 'POST', path: '/v1/feeds/:id/publish' },
  { name: 'analytics.videos', method: 'GET', path: '/v1/analytics/videos' },
  { name: 'analytics.overview', method: 'GET', path: '/v1/analytics/overview' },
] as const;

export type OperationName = (typeof operations)[number]['name'];

/** Requests outside the API, named only for the journal. */
export const openOperations = [
  { name: 'feeds.read', method: 'GET', path: '/feeds/:file' },
  { name: 'media.read', method: 'GET', path: '/cdn/videos/:file' },
  { name: 'thumbnails.read', method: 'GET', path: '/cdn/thumbnails/:file' },
  { name: 'artwork.read', method: 'GET', path: '/cdn/artwork/:file' },
  { name: 'embed.show', method: 'GET', path: '/embed/:id' },
  { name: 'embed.play', method: 'POST', path: '/embed/:id/plays' },
  { name: 'embed.report', method: 'POST', path: '/embed/:id/plays/:play' },
  { name: 'contract.read', method: 'GET', path: '/openapi.yaml' },
] as const;

/**
 * Names the operation of a request. PATCH to an upload address sends a file by tus. HEAD counts as GET (RFC 9110
 * section 9.3.2). @returns `uploads.put`, for example, or `unknown`
 */
export function operationOf(method: string, path: string): string {
  if (isUploadPath(path)) return method === 'PUT' || method === 'PATCH' ? 'uploads.put' : 'unknown';
  const asked = method === 'HEAD' ? 'GET' : method;
  const all = [...operations, ...openOperations];
  return all.find((operation) => operation.method === asked && isAt(operation.path, path))?.name ?? 'unknown';
}

/** Returns whether an operation belongs to the API or to uploads, so that planned faults may apply to it. */
export function isOfApi(operation: string): boolean {
  return operation === 'uploads.put' || operations.some(({ name }) => name === operation);
}

/** Returns whether the path belongs to the API or to uploads, even if it has no route. */
export function isApiPath(path: string): boolean {
  return isUploadPath(path) || /^\/v1(\/|$)/.test(path);
}

/** Returns the methods of a path, including HEAD and OPTIONS; empty for a path that does not exist. */
export function methodsAt(path: string): string[] {
  const methods = operations.filter((operation) => isAt(operation.path, path)).map((operation) => operation.method);
  if (methods.length === 0) return [];
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
}

export const UPLOAD_PREFIX = '/uploads/';

export function isUploadPath(path: string): boolean {
  return path.startsWith(UPLOAD_PREFIX);
}

/** Returns whether a path belongs to the admin side or the page rather than to the specified service. */
export function isOwnPath(path: string): boolean {
  return path === '/' || /^\/(_sandbox|_page)(\/|$)/.test(path);
}

/** Matches thumbnails, media and players, which the page loads itself. */
export function isAboutFiles(path: string): boolean {
  return path.startsWith('/cdn/') || path.startsWith('/embed/');
}

/** Masks the token of an upload address in a path, even in a misplaced address. */
export function withoutSecrets(path: string): string {
  return path.replace(/^(.*?\/uploads\/[^/]*)\/.*/, '$1/[token]');
}

/** Matches a path. @param pattern may contain parts like `:id`, which match any non-empty part */
export function isAt(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const given = path.split('/');
  return wanted.length === given.length && wanted.every((part, index) => isPart(part, given[index] ?? ''));
}

function isPart(wanted: string, given: string): boolean {
  return wanted.startsWith(':') ? given !== '' : wanted === given;
}
