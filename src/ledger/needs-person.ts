import { unknownNameCodes } from '../pipeline/file/failure.ts';

/** Rows that wait for a channel that the service does not have. @param code the expression for the code of their failure */
export const isWithoutChannel = (code: string): string =>
  `(state = 'retrying' AND ${code} = '${unknownNameCodes.channel}')`;

/** Rows that wait for a feed that the service does not have. */
export const isWithoutFeed = (code: string): string =>
  `(state = 'awaiting publish' AND ${code} = '${unknownNameCodes.feed}')`;

/** `needsPerson` of a file, as SQL. */
export const needsPerson = (code: string): string =>
  `(state IN ('failed', 'held') OR disposal = 'waiting' OR ${isWithoutChannel(code)} OR ${isWithoutFeed(code)})`;
