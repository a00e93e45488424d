// The web that the service sells from: a few pages on loopback. PORT says where.
import http from 'node:http';

const page = (title, paragraphs) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body>
<nav><a href="/">Home</a> <a href="/article">Article</a></nav>
<main><article><h1>${title}</h1>
${paragraphs.map((text) => `<p>${text}</p>`).join('\n')}
</article></main>
<footer>Small print</footer></body></html>`;

const article = page('Lighthouses of the North Sea', [
  'The oldest lighthouse on this coast was lit in 1774 and burned coal for its first fifty years.',
  'Its keepers wrote down every passing ship, and <strong>their books</strong> are still read by historians today.',
  'A second tower was built in 1833 when the sand banks had moved and the first light misled more than it helped.',
]);

// Pages under /notes/ agree with the article, each in its own words.
const note = (number) => page(`Note ${number} on the towers`, [
  `As the harbour office writes in note ${number}, the oldest lighthouse on this coast was lit in 1774.`,
  `Visitors of tower ${number} pay ${number} euros and climb ${90 + 7 * number} steps, which takes a while in the wind.`,
]);

// What stands at the domains that the examples of /docs name.
const example = page('Example Domain', [
  'This domain is for use in documentation examples without needing permission. Avoid use in operations.',
]);

// Pages under /flaky/ are down the first time and there the second.
const asked = new Set();

http.createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://site');
  const html = (status, text) => {
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
    response.end(text);
  };
  if (request.headers.host?.startsWith('www.example.')) return html(200, example);
  if (pathname.startsWith('/flaky/') && !asked.has(pathname)) {
    asked.add(pathname);
    return html(503, page('Down', ['Come back later.']));
  }
  if (pathname === '/missing') return html(404, page('Missing', ['There is nothing here.']));
  // Those of sources take their time, so that a check can come in between.
  const noted = pathname.match(/^\/notes\/(\d+)$/);
  if (noted) return setTimeout(() => html(200, note(Number(noted[1]))), 300);
  return html(200, article);
}).listen(Number(process.env.PORT), '127.0.0.1');
