import type { Context } from 'hono';
import { ApiError } from '../http/api-error.ts';
import type { AskService } from './ask-service.ts';

/** The admin side's limit, plus room for the rest of the form. */
export const MOST_IMPORT_BYTES = 257 * 1024 * 1024;

/**
 * Imports the form's file through the admin side, which checks it. @throws ApiError 400 without a file, and the admin
 * side's refusals
 */
export async function importFile(context: Context, ask: AskService): Promise<void> {
  const file = await fileIn(context);
  await ask({ method: 'POST', path: '/_sandbox/import', content: await file.text() });
}

async function fileIn({ req }: Context): Promise<File> {
  const { document } = await req.parseBody().catch((): Record<string, undefined> => ({}));
  if (document instanceof File && document.size > 0) return document;
  throw new ApiError('bad_request', 'Choose the file of an export first.');
}
