import { isSuccess } from '../../transport/answer.ts';
import type { ProtocolStrategy } from './protocol.ts';

/** One PUT with the whole file (api-spec section 4.5). A host that received only a part of it discards that. */
export function putProtocol(sizeBytes: number): ProtocolStrategy {
  return {
    protocol: 'put',
    asksFirst: false,
    offsetRequest: () => null,
    uploadRequest: () => ({ method: 'PUT', headers: {}, end: sizeBytes }),
    offsetIn: ({ status }) => (isSuccess(status) ? sizeBytes : null),
  };
}
