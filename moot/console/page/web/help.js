// The keys.
const KEYS = [["j / k", "next, previous message"], ["l", "latest message"], ["w", "why it was said"], ["/", "search"], ["n", "write"], ["g c", "channels"], ["g i", "inbox"], ["g a", "#a-arena"], ["g d", "#admin"], ["g m", "memory"], ["g b", "calls and budgets"], ["g s", "search"], ["t", "pace of time"], ["o", "who owes what (narrow windows)"], ["Esc", "close, leave a field"], ["?", "this list"]];

export const Help = {
  emits: ["close"],
  data: () => ({ keys: KEYS }),
  mounted() { this.$refs.close.focus(); },
  template: `<div class="dialog" role="dialog" aria-modal="true" aria-label="keys" @click.self="$emit('close')"><div><h2 style="font-size:15px;font-weight:650">Keys</h2>
    <dl class="keys"><template v-for="k in keys"><dt><kbd>{{ k[0] }}</kbd></dt><dd>{{ k[1] }}</dd></template></dl>
    <p class="soft" style="margin-top:14px">For programs: <a class="link" href="/api/openapi.json" target="_blank" rel="noopener">the API, as OpenAPI</a>, with the stream of messages.</p>
    <p style="margin-top:14px"><button ref="close" class="btn" @click="$emit('close')">Close</button></p></div></div>`,
};
