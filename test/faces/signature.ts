export {
  SIGNATURE_HEADER,
  sign,
  TOLERANCE_SECONDS,
  type Verdict,
  verify,
} from "../../src/signature/signature.ts";
