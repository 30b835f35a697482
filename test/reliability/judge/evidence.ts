/** Everything the judge looks at, and nothing else: what was dropped, what lies there, what the service holds, what was asked, the ledger. */
export interface Evidence {
  readonly versions: readonly Version[];
  /** Every regular file below the watched folders, hidden ones too. */
  readonly disk: readonly FileOnDisk[];
  /** Deleted ones too. */
  readonly records: readonly RecordOnService[];
  readonly journal: readonly Request[];
  readonly rows: readonly LedgerRow[];
  /** Per file, oldest first. */
  readonly history: ReadonlyMap<string, readonly string[]>;
  /** The records without bytes that dropcast names as left over. */
  readonly listed: readonly ListedRecord[];
  /** Text of each file of `exports`, by name. */
  readonly exports: ReadonlyMap<string, string>;
  /** Absolute paths of the link files that are whole, with the video that each names. */
  readonly linkFiles: ReadonlyMap<string, string> | null;
  readonly exits: readonly Exit[];
  /** Upload requests that carried the key of the API. */
  readonly leaks: readonly string[];
  readonly allows: Allowance;
}

/** Bytes that somebody put under a name. */
export interface Version {
  /** Absolute, where it lay last as far as people moved it. */
  readonly path: string;
  readonly sha256: string;
  /** False once somebody overwrote or deleted it: then it may be on the service or not. */
  readonly isLeft: boolean;
  /** What its video may be called. */
  readonly titles: readonly string[];
  /** Nothing for dropcast, but nothing it may touch either. */
  readonly isForeign?: boolean;
  /** Known to be incomplete: only a person may send it. */
  readonly isBroken?: boolean;
}

export interface FileOnDisk {
  readonly path: string;
  readonly sha256: string;
}

export interface RecordOnService {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  /** SHA-256 of every complete body. */
  readonly bodies: readonly string[];
  readonly isDeleted: boolean;
  /** Made by somebody else than dropcast. */
  readonly isForeign: boolean;
}

export interface Request {
  readonly method: string;
  /** Without the query; `/put/ID` for an upload. */
  readonly path: string;
  /** The status of the record when the request came in; null when there was none. */
  readonly status: string | null;
}

export interface LedgerRow {
  readonly id: string;
  /** Absolute. */
  readonly path: string;
  readonly state: string;
  readonly sha256: string | null;
  readonly videoId: string | null;
  readonly title: string | null;
  readonly why: string | null;
}

export interface ListedRecord {
  /** Null when only the title is known: the answer to its create request was lost. */
  readonly videoId: string | null;
  readonly title: string;
}

/** How a process of dropcast ended. */
export interface Exit {
  readonly command: string;
  readonly code: number | null;
  readonly signal: string | null;
  /** The signal that the test sent, if it did. */
  readonly sent: string | null;
  readonly stderr: string;
  /** It did not end in time, and was killed. */
  readonly isStuck: boolean;
}

export interface Allowance {
  /** Paths that may end with a person's decision to take; all others end by themselves. */
  readonly needsPerson: readonly string[];
  /** Equal content may be a video each. */
  readonly duplicates: boolean;
  /** Requests about one record. */
  readonly requestsPerVideo: number;
  readonly requests: number;
  /** Exit codes besides 0. */
  readonly exitCodes: readonly number[];
}
