// refused: private within this context
#include <assent/tool.hpp>

class Wrapper final : public assent::Tool {
public:
    explicit Wrapper(assent::Tool& inner) : Tool({.name = "wrapper"}), inner_(inner) {}

private:
    assent::ToolResult run(const assent::ApprovedCall& call) override {
        (void)call;
#ifdef MISUSE
        return inner_.run(call);
#else
        return {.text = inner_.spec().name};
#endif
    }
    assent::Tool& inner_;
};
