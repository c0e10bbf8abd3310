export const fileOf = (url) => url.replace(/^file:/, "");

const nothing = () => undefined;

export const silent = {
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silent,
};
