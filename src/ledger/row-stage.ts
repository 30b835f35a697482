/** The stage that a row will resume which waits for another try, as SQL: see `stageOf`. */
export const resumedStage = `CASE WHEN dying = 1 THEN 'queued' WHEN ready_at IS NOT NULL THEN 'publishing'
    WHEN uploaded_at IS NOT NULL THEN 'processing' WHEN upload_started_at IS NOT NULL THEN 'uploading' ELSE 'queued' END`;

/** `stageOf` for a row that no step works on, as SQL. @param code of its last failure */
export const rowStage = (code: string): string => `(CASE state WHEN 'retrying' THEN ${resumedStage}
    WHEN 'awaiting upload' THEN 'queued' WHEN 'awaiting publish' THEN 'publishing'
    WHEN 'skipped' THEN CASE WHEN ${code} = 'ignored' THEN 'ignored' ELSE 'skipped' END ELSE state END)`;
