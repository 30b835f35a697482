const [baseUrl = '', apiKey = ''] = process.argv.slice(2);

/** Sends a request of orval's client, whose addresses start with the path of the operation. */
export async function request<T>(path: string, options: RequestInit): Promise<T> {
  const isUpload = path.startsWith('/uploads/');
  const headers = new Headers(options.headers);
  if (!isUpload) headers.set('Authorization', `Bearer ${apiKey}`);
  const response = await fetch(isUpload ? new URL(path, baseUrl) : baseUrl + path, { ...options, headers });
  const text = await response.text();
  return { status: response.status, data: text === '' ? undefined : JSON.parse(text), headers: response.headers } as T;
}
