/** Which engine proves an invariant. */
export type Engine = 'explorer' | 'simulation';

const both = ['explorer', 'simulation'] as const;
const explorer = ['explorer'] as const;
const simulation = ['simulation'] as const;

/**
 * What dropcast promises, as a table: the tests of both engines are made from it, one for each line and engine, and specs.test.ts
 * checks that each line has a planted bug that breaks it.
 */
export const specs = {
  L1: { by: both, says: 'a file on disk is ready on the service, or its row says why a person is needed' },
  L2: { by: both, says: 'no bytes are deleted from the disk that the service does not have' },
  D1: { by: both, says: 'no content becomes a video twice' },
  D2: { by: both, says: 'no body is sent again before the service was asked and said that it has none' },
  D3: { by: explorer, says: 'the upload address is durable before the first byte is sent' },
  D4: { by: both, says: 'a token is used for one create request only' },
  M1: { by: both, says: 'a video has bytes that a file had at one moment, never a mixture' },
  R1: { by: both, says: 'no video is deleted that is ready or holds the only copy of its bytes' },
  E1: { by: both, says: 'a row names every record without bytes: its id, or the token of its create request' },
  P1: { by: explorer, says: 'a feed is published only with videos that are ready, and a file is done only after that' },
  B1: { by: simulation, says: 'the requests of any hour stay within the limit' },
  A1: { by: both, says: 'an outage uses up no attempt, so none ends a file' },
  T1: { by: simulation, says: 'no jump of the clock ends a file' },
  S1: { by: simulation, says: 'a sidecar speaks only for the video that it was written for' },
  F1: { by: simulation, says: 'a folder freezes as emptied only for what people took away' },
  F2: { by: simulation, says: 'a file waits for its folder no longer than a minute after the folder can be trusted' },
  O1: {
    by: simulation,
    says: 'what was sent since an older copy of the state directory was made is not sent again before an operator allows it',
  },
  W1: { by: both, says: 'a file that ended without a video has a reason in words' },
  V1: { by: both, says: 'after the faults stop, every file ends within a bound of virtual minutes and requests' },
} as const satisfies Readonly<Record<string, { readonly by: readonly Engine[]; readonly says: string }>>;

export type SpecId = keyof typeof specs;

/** The invariants that an engine proves. */
export function specsOf(engine: Engine): readonly SpecId[] {
  return (Object.keys(specs) as SpecId[]).filter((id) => specs[id].by.some((one) => one === engine));
}
