/** What a filter asks for, but for the times. Errors begin with their name and their code; see the dispatcher. */
export const FITS = `(@type IS NULL OR event.type = @type) AND (@lane IS NULL OR event.lane = @lane)
  AND (@source IS NULL OR event.source = @source)
  AND (@error IS NULL OR instr(event.error, @error) > 0)
  AND (@code IS NULL OR instr(substr(event.error, 1, instr(event.error, ': ')), ' ' || @code || ':') > 0)`;
