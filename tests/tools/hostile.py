"""A page that tries every way out that a browser has, to a host and to a path that are closed to it."""

from tests.tools.site import PAGES, Answer, page

OWN = "site.localhost"
"""Counts as a secure place, so that all that a browser can do is there."""

WORKER = """
fetch(TO + '/KIND-fetch').catch(() => 0);
try { new WebSocket(TO.replace('http', 'ws') + '/KIND-socket') } catch (e) {}
try { new EventSource(TO + '/KIND-events') } catch (e) {}
try { importScripts(TO + '/KIND-import') } catch (e) {}
"""
SCRIPT = """
const add = (name, fields) => { const one = document.createElement(name); Object.assign(one, fields);
                                document.body.append(one); return one };
const quietly = (act) => { try { const done = act(); if (done && done.catch) done.catch(() => 0) } catch (e) {} };
const from = (text, type) => URL.createObjectURL(new Blob([text], { type }));
const inner = (kind) => `<script>fetch('${TO}/${kind}-fetch').catch(() => 0);`
  + `try { new WebSocket('${TO.replace('http', 'ws')}/${kind}-socket') } catch (e) {}<` + '/script>'
  + `<img src='${TO}/${kind}-image'>`;
const worker = WORKERTEXT;
quietly(() => fetch(TO + '/fetch'));
quietly(() => fetch(TO + '/fetch-post', { method: 'POST', body: 'secret', mode: 'no-cors', keepalive: true }));
quietly(() => { const x = new XMLHttpRequest(); x.open('PUT', TO + '/xhr'); x.send('secret') });
quietly(() => navigator.sendBeacon(TO + '/beacon', 'secret'));
quietly(() => new EventSource(TO + '/events'));
quietly(() => new WebSocket(TO.replace('http', 'ws') + '/socket'));
quietly(() => new WebTransport(TO.replace('http:', 'https:') + '/transport'));
quietly(() => fetch('/leads-on?' + TO));
for (const rel of ['prefetch', 'preload', 'modulepreload', 'stylesheet', 'icon', 'manifest', 'dns-prefetch',
                   'preconnect', 'prerender'])
  quietly(() => add('link', { rel, as: 'script', href: TO + '/link-' + rel }));
quietly(() => add('script', { type: 'speculationrules', textContent: JSON.stringify({
  prefetch: [{ source: 'list', urls: [TO + '/speculated'] }], prerender: [{ source: 'list',
  urls: [TO + '/pre'] }] }) }));
for (const [name, field] of [['img', 'src'], ['iframe', 'src'], ['script', 'src'], ['video', 'src'], ['audio', 'src'],
                             ['embed', 'src'], ['object', 'data'], ['video', 'poster']])
  quietly(() => add(name, { [field]: TO + '/' + name + '-' + field }));
quietly(() => add('style', { textContent: `@import url(${TO}/css); @font-face { font-family: x; src: url(${TO}/font) }
  body { font-family: x; background: url(${TO}/background) }` }));
quietly(() => add('iframe', { srcdoc: inner('srcdoc') }));
quietly(() => add('iframe', { src: 'data:text/html,' + encodeURIComponent(inner('data')) }));
quietly(() => add('iframe', { src: from(inner('blob'), 'text/html') }));
quietly(() => add('iframe', { src: 'javascript:' + JSON.stringify(inner('script')) }));
quietly(() => { const bare = add('iframe', {}).contentWindow;
                bare.fetch(TO + '/bare'); new bare.WebSocket(TO.replace('http', 'ws') + '/bare-socket');
                new bare.RTCPeerConnection({}) });
quietly(() => window.open(TO + '/popup'));
quietly(() => { const popup = window.open(''); popup.document.write(inner('blank')) });
quietly(() => add('a', { href: TO + '/download', download: 'x', target: '_blank' }).click());
quietly(() => add('a', { href: '/next', target: '_blank', ping: TO + '/ping' }).click());
quietly(() => { const form = add('form', { action: TO + '/form', method: 'POST', target: 'there' });
                add('iframe', { name: 'there' }); form.submit() });
quietly(() => new Worker(from(worker.replaceAll('KIND', 'worker'), 'text/javascript')));
quietly(() => new Worker('data:text/javascript,' + encodeURIComponent(worker.replaceAll('KIND', 'data-worker'))));
quietly(() => new Worker('/worker.js'));
quietly(() => new Worker(from(`new Worker(URL.createObjectURL(new Blob([${JSON.stringify(
  worker.replaceAll('KIND', 'nested'))}])))`, 'text/javascript')));
quietly(() => new SharedWorker('/worker.js'));
quietly(() => new SharedWorker(from(worker.replaceAll('KIND', 'shared'), 'text/javascript')));
quietly(() => navigator.serviceWorker.register('/worker.js'));
quietly(() => ServiceWorkerContainer.prototype.register.call(navigator.serviceWorker, '/worker.js?again'));
quietly(() => { const call = new RTCPeerConnection({ iceServers: [
  { urls: 'stun:' + HOST + ':3478' }, { urls: 'turn:' + HOST + ':3478?transport=tcp', username: 'a',
    credential: 'b' }] });
  call.createDataChannel('x'); call.createOffer().then((offer) => call.setLocalDescription(offer)) });
quietly(() => CSS.paintWorklet && CSS.paintWorklet.addModule(TO + '/worklet'));
document.title = 'tried';
"""


def hostile(to: str) -> dict[str, Answer]:
    """Pages that try to reach that address; the first is at `/hostile`."""
    host = to.split("//")[1].split("/")[0]
    start = f"const TO = {to!r}, HOST = {host!r};"
    script = SCRIPT.replace("WORKERTEXT", "`" + f"const TO = {to!r};" + WORKER + "`")
    body = f"<p>Nothing to see.</p><img src='/slow'><script>{start}{script}</script>"
    worker = (f"const TO = {to!r};" + WORKER.replace("KIND", "net")).encode()
    return PAGES | {
        "/hostile": Answer(page("Hostile", body)),
        "/worker.js": Answer(worker, "text/javascript"),
        "/leads-on": Answer(status="302 Found", headers={"Location": f"{to}/redirected"}),
    }
