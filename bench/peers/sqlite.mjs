/** The path in `file:/path`. */
export const fileOf = (url) => url.replace(/^file:/, "");

const nothing = () => undefined;

/** A logger that says nothing. */
export const silent = {
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silent,
};
