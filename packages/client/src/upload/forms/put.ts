import { isSuccess } from '../../transport/answer.ts';
import type { UploadForm } from './form.ts';

/** One PUT with the whole file (api-spec section 4.5). A host that received only a part of it discards that. */
export function putForm(sizeBytes: number): UploadForm {
  return {
    protocol: 'put',
    asksFirst: false,
    question: () => null,
    delivery: () => ({ method: 'PUT', headers: {}, end: sizeBytes }),
    offsetIn: ({ status }) => (isSuccess(status) ? sizeBytes : null),
  };
}
