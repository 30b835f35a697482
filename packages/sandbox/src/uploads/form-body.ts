/**
 * Recognises from the body's type that a file is wrapped in a form, as sent by `curl -F` and by browsers with FormData.
 * The types of the form's parts do not matter.
 * @param contentType of the request
 */
export function isFormType(contentType: string | undefined): boolean {
  return /^\s*multipart\//i.test(contentType ?? '');
}

/**
 * Recognises a form by its first bytes if its type does not show it, which happens when programs set a Content-Type for
 * FormData. No media file begins with a boundary of up to 70 characters (RFC 2046 section 5.1.1) followed by the first
 * part's headers.
 * @param head the first bytes, up to 1 KiB
 */
export function isFormBody(head: Buffer): boolean {
  const [, headers] =
    /^(?:\r\n)?--[\x20-\x7e]{1,70}\r?\n((?:[\x21-\x7e]+:[^\n]*\n)+)/.exec(head.toString('latin1')) ?? [];
  return /^content-disposition:\s*form-data/im.test(headers ?? '');
}
