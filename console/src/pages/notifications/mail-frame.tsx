import { useEffect, useRef, useState } from "preact/hooks";

/**
 * Shows the HTML of a mail. The frame has a policy of its own: no script runs in it and nothing is loaded, but the inline styles
 * of mails apply.
 */
export function MailFrame({ html, title }: { readonly html: string; readonly title: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    const body = frame.current?.contentDocument?.body;
    if (isReady && body) body.innerHTML = html;
  }, [html, isReady]);
  return (
    <iframe
      class="preview-frame"
      onLoad={() => setReady(true)}
      ref={frame}
      sandbox="allow-same-origin"
      src="/console/frame.html"
      title={title}
    />
  );
}
