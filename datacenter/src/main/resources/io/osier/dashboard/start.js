// Loads the page's parts. One that cannot be fetched (the datacenter restarts, the network changes)
// would leave a page that says "connecting" for ever: so the page is loaded anew.
import('./main.js').catch(() => {
  document.getElementById('live').textContent = 'loading again';
  setTimeout(() => location.reload(), 2000);
});
