import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FaultRule } from '../faults/fault-rule.ts';
import type { JournalEntry } from '../http/journal-entry.ts';
import { detailsOf, jsonOf, type Details, type InspectedRequest, type ShownBody, type Masking } from './details.ts';
import { record, type Recording } from './recording.ts';
import { subjectOf, type Subject } from './subject.ts';
import { keyId as keyName } from '../admin/keys.ts';

interface Followed {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly masking: Masking;
}

/** An exchange, followed from the arrival of its request. */
export class FollowedExchange {
  #entry: JournalEntry;
  readonly #masking: Masking;
  /** Set until the exchange finishes, for clients that read the journal before the 'close' event has fired. */
  #response: ServerResponse | undefined;
  #recording: Recording | undefined;
  /** Replaces the recording once the exchange has finished. */
  #details: Details | undefined;
  #faultRule: FaultRule | undefined;
  #sizeBytes = 0;

  /** @param entry facts known at the start @param followed request and response, as for `record`, and the masking */
  constructor(entry: JournalEntry, { request, response, masking }: Followed) {
    this.#entry = entry;
    this.#masking = masking;
    this.#response = response;
    this.#recording = record(request, response);
  }

  get number(): number {
    return this.#entry.number;
  }

  note(facts: Partial<JournalEntry>): void {
    this.#entry = { ...this.#entry, ...facts };
  }

  noteFault(rule: FaultRule): void {
    this.#faultRule = rule;
    this.note({ fault: rule.kind });
  }

  /** Marks the exchange as finished. @param facts facts known only then */
  end(facts: Pick<JournalEntry, 'durationMs' | 'bytesIn' | 'bytesOut'>): void {
    this.#sizeBytes = this.#recording ? sizeOf(this.#recording) : 0;
    const entry = this.entry();
    this.#response = undefined;
    this.#entry = { ...entry, ...this.#subject(), ...facts };
  }

  /** Returns the entry in its current state. */
  entry(): JournalEntry {
    if (this.#response === undefined) return this.#entry;
    const status = this.#response.headersSent ? this.#response.statusCode : this.#entry.status;
    return { ...this.#entry, ...this.#subject(), status };
  }

  /** Returns the entry. Its details are computed when they are read. */
  inspected(): InspectedRequest {
    const shown = () => this.#shown();
    return {
      ...this.entry(),
      get details() {
        return shown();
      },
    };
  }

  /** Approximate memory used by the details, known once the exchange has finished. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  dropDetails(): void {
    this.#recording = undefined;
    this.#details = undefined;
  }

  #subject(): Subject {
    const { operation, path, query } = this.#entry;
    return subjectOf({
      operation,
      path,
      query,
      requestBody: () => bodyOf(this.#shown()?.requestBody),
      answerBody: () => bodyOf(this.#shown()?.answerBody),
    });
  }

  #shown(): Details | undefined {
    if (this.#details || !this.#recording) return this.#details;
    const { keyId } = this.#entry;
    const about = { keyName: keyId === null ? null : keyName(keyId), faultRule: this.#faultRule };
    const shown = detailsOf(this.#recording, this.#masking, about);
    if (this.#response !== undefined) return shown; // it may still change
    this.#details = shown;
    this.#recording = undefined;
    return shown;
  }
}

function sizeOf({ requestHeaders, answerHead, requestBody, answerBody }: Recording): number {
  const headers = requestHeaders.reduce((sum, text) => sum + text.length, answerHead.length);
  return OVERHEAD_BYTES + 2 * headers + requestBody.keptBytes + answerBody.keptBytes;
}

const OVERHEAD_BYTES = 1000;

function bodyOf(body: ShownBody | undefined): unknown {
  return body && jsonOf(body);
}

/** Maximum memory for the headers and bodies of all finished exchanges together. */
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * The exchanges whose details are kept. When the details need too much memory, the exchanges that finished first lose
 * theirs.
 */
export class BoundedDetails {
  readonly #mostBytes: number;
  /** Exchanges in the order in which they finished. */
  readonly #kept = new Set<FollowedExchange>();
  readonly #dropped = new WeakSet<FollowedExchange>();
  #bytes = 0;

  /** @param mostBytes approximate memory limit for the details */
  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes;
  }

  /** Adds an exchange that has finished. */
  add(exchange: FollowedExchange): void {
    if (this.#dropped.has(exchange)) return exchange.dropDetails();
    this.#kept.add(exchange);
    this.#bytes += exchange.sizeBytes;
    for (const oldest of this.#kept) {
      if (this.#bytes <= this.#mostBytes) return;
      this.drop(oldest);
    }
  }

  /** Drops an exchange's details, now or when it finishes. */
  drop(exchange: FollowedExchange): void {
    this.#dropped.add(exchange);
    if (!this.#kept.delete(exchange)) return;
    this.#bytes -= exchange.sizeBytes;
    exchange.dropDetails();
  }
}
