import type { Observed } from './judge.ts';

/**
 * Statements that make a database write down, in its own order, who gets a lease, who loses one and who writes the row of a file or wants a
 * feed published. The program knows nothing of it.
 *
 * @param clock the function that tells the time
 */
export function observing(clock = 'clock_timestamp'): string {
  return `
  CREATE SCHEMA IF NOT EXISTS machine;
  CREATE TABLE machine.observed (id bigserial PRIMARY KEY, at timestamptz, what text, file text, member text);
  CREATE FUNCTION machine.note(what text, file text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO machine.observed (at, what, file, member)
      VALUES (${clock}(), what, file, coalesce(nullif(current_setting('machine.member', true), ''), session_user))
  $$;
  CREATE FUNCTION machine.see_row() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
  BEGIN
    -- What receipts say is brought in by an INSERT that meets a row, whoever holds it: its holder then has an old revision.
    PERFORM machine.note(CASE WHEN current_query() ~* '^\\s*insert' THEN 'restored' ELSE 'written' END, NEW.id);
    RETURN NULL;
  END $$;
  CREATE FUNCTION machine.see_job() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
  BEGIN
    IF OLD.name <> 'file' THEN RETURN NULL; END IF;
    IF OLD.state = 'active' AND (TG_OP = 'DELETE' OR NEW.state <> 'active' OR NEW.retry_count <> OLD.retry_count) THEN
      -- pg-boss gives a job back by an update, and takes one away by putting another in its place.
      PERFORM machine.note(CASE WHEN TG_OP = 'DELETE' OR NEW.state <> 'completed' THEN 'expired' ELSE 'freed' END, OLD.singleton_key);
    END IF;
    IF TG_OP = 'UPDATE' AND NEW.state = 'active' AND (OLD.state <> 'active' OR NEW.retry_count <> OLD.retry_count) THEN
      PERFORM machine.note('granted', NEW.singleton_key);
    END IF;
    RETURN NULL;
  END $$;
  CREATE FUNCTION machine.see_wish() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
  BEGIN
    PERFORM machine.note('wanted', NEW.feed);
    RETURN NULL;
  END $$;
  DO $$ BEGIN
    IF to_regclass('dropcast.feed_due') IS NOT NULL THEN
      CREATE TRIGGER seen AFTER INSERT OR UPDATE ON dropcast.feed_due FOR EACH ROW EXECUTE FUNCTION machine.see_wish();
    END IF;
  END $$;
  CREATE TRIGGER seen AFTER UPDATE ON dropcast.file FOR EACH ROW EXECUTE FUNCTION machine.see_row();
  CREATE TRIGGER seen AFTER UPDATE OR DELETE ON dropcast_jobs.job FOR EACH ROW EXECUTE FUNCTION machine.see_job();
  GRANT USAGE ON SCHEMA machine TO PUBLIC`;
}

/**
 * Statements that make a database note the state of each file in `noted.file` whenever it changes, next to the time in milliseconds.
 *
 * @param beginsAt the time that counts as 0, in epoch milliseconds
 */
export function notingRows(beginsAt: number): string {
  return `
  DROP SCHEMA IF EXISTS noted CASCADE;
  CREATE SCHEMA noted;
  CREATE TABLE noted.file AS SELECT 0::float8 AS at, * FROM dropcast.file WITH NO DATA;
  CREATE FUNCTION noted.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
    IF TG_OP = 'INSERT' OR (OLD.path, OLD.state, OLD.why, OLD.video_id) IS DISTINCT FROM (NEW.path, NEW.state, NEW.why, NEW.video_id) THEN
      INSERT INTO noted.file SELECT extract(epoch FROM machine.now()) * 1000 - ${beginsAt}, NEW.*;
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER noted AFTER INSERT OR UPDATE ON dropcast.file FOR EACH ROW EXECUTE FUNCTION noted.note()`;
}

/** Milliseconds since the epoch, oldest first. */
export const observedText = `
  SELECT (extract(epoch FROM at) * 1000)::float8 AS at, what, file, member AS by FROM machine.observed ORDER BY id`;

export function observedIn(rows: readonly Readonly<Record<string, unknown>>[], beginsAt = 0): readonly Observed[] {
  return rows.map(({ at, what, file, by }) => ({
    at: Number(at) - beginsAt,
    what: what as Observed['what'],
    file: String(file),
    by: String(by),
  }));
}
