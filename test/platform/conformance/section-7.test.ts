import { refusalContract } from "../../contract/refusal-contract.ts";
import { call, expectRefusal } from "./http.ts";

/** Section 7: every row of the table, on every endpoint that the row names. */
refusalContract(async (world, { method, path, body, token = world.token }, { status, code }) => {
  expectRefusal(await call(world, method, path, { body, token }), status, code);
});
