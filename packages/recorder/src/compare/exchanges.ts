import { operations, type Operation } from '@dropcast/sandbox/contract/document';
import { isAt, isUploadPath } from '@dropcast/sandbox/http/operations';
import type { RecordedExchange } from '../recording.ts';

/**
 * Returns the operation of an exchange. HEAD is GET without a body (RFC 9110 section 9.3.2). PATCH to an upload address
 * sends a file by tus.
 */
export function operationOf({ method, target }: Pick<RecordedExchange, 'method' | 'target'>): Operation | undefined {
  const pathname = pathOf(target);
  const isSent = method === 'PATCH' && isUploadPath(pathname);
  const asked = isSent ? 'PUT' : method === 'HEAD' ? 'GET' : method;
  return operations.find(
    (operation) => operation.method === asked && isAt(operation.path.replaceAll(/\{(\w+)\}/g, ':$1'), pathname),
  );
}

/**
 * Whether an upload host asks for the rest of a file with 308, as in a resumable session of Google Cloud Storage. With
 * `Location`, 308 is a redirect (RFC 9110 section 15.4.9).
 */
export function isIncomplete({ answer }: Pick<RecordedExchange, 'answer'>): boolean {
  return answer?.status === 308 && answer.headers['location'] === undefined;
}

/** Returns the JSON body of the answer; undefined if there is none. */
export function jsonOf({ answer }: RecordedExchange): unknown {
  return answer?.body !== undefined && 'json' in answer.body ? answer.body.json : undefined;
}

/** Returns the path of a recorded target. */
export function pathOf(target: string): string {
  return target.split('?')[0] ?? '';
}
