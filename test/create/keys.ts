export const keys = {
  enter: "\r",
  down: "\x1b[B",
  up: "\x1b[A",
  escape: "\x1b",
  ctrlC: "\x03",
  ctrlD: "\x04",
} as const;
