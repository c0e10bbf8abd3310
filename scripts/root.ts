import { fileURLToPath } from "node:url";

/** Path of the checkout. */
export const root: string = fileURLToPath(new URL("..", import.meta.url));
