export { markProbe, PROBE_HEADER } from "../../src/signature/probe.ts";
export {
  SIGNATURE_HEADER,
  sign,
  TOLERANCE_SECONDS,
  type Verdict,
  verify,
} from "../../src/signature/signature.ts";
