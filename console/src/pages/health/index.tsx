import { useEffect } from "preact/hooks";
import { Loading } from "../../ui/card";

/** Health. The service renders this page itself, so that it can be read without JavaScript. */
export default function Health() {
  useEffect(() => location.reload(), []);
  return <Loading />;
}
