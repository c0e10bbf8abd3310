import { fileURLToPath } from "node:url";

/** The checkout. */
export const root: string = fileURLToPath(new URL("..", import.meta.url));
