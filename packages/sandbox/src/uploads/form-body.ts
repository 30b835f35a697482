/**
 * A file inside a form, as `curl -F` and browsers with FormData send it: by the type of the body, whatever it says of
 * its parts.
 * @param contentType of the request
 */
export function isFormType(contentType: string | undefined): boolean {
  return /^\s*multipart\//i.test(contentType ?? '');
}

/**
 * Recognises a form by its first bytes when its type says something else: programs that set a Content-Type for FormData
 * send one. No media file begins like that: a boundary of up to 70 characters (RFC 2046 section 5.1.1), then the
 * headers of the first part.
 * @param head the first bytes, up to 1 KiB
 */
export function isFormBody(head: Buffer): boolean {
  const [, headers] =
    /^(?:\r\n)?--[\x20-\x7e]{1,70}\r?\n((?:[\x21-\x7e]+:[^\n]*\n)+)/.exec(head.toString('latin1')) ?? [];
  return /^content-disposition:\s*form-data/im.test(headers ?? '');
}
